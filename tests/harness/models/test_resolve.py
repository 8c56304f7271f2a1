from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ModelError
from harness.models import registry as registry_module
from harness.models.folder.digest import weights_digest
from harness.models.resolve import resolve

Make = Callable[..., Any]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(cache: Path, tiny_llama: Make, converted: Make) -> Path:
    made: Path = converted(tiny_llama())
    return made


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub's client."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def snapshot(hub: Path, folder: Path) -> Path:
    """Put a model into the hub's cache as its client lays it out."""
    repository = hub / "models--org--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    target = repository / "snapshots" / COMMIT
    target.parent.mkdir()
    folder.rename(target)
    return target


def test_a_folder_is_a_model_and_its_path_is_not_its_id(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = resolve(str(folder))
    assert (model.id, model.folder, model.revision) == ("tiny-folder", folder, None)
    assert model.weights == weights_digest(folder)
    monkeypatch.chdir(folder)
    assert resolve(".") == model


def test_an_environment_variable_names_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_TEST_MODEL", str(folder))
    assert resolve("${ENV:K3_TEST_MODEL}").folder == folder
    monkeypatch.setenv("K3_TEST_MODEL", str(folder / "nowhere"))
    with pytest.raises(ModelError, match="nowhere: no such model folder"):
        resolve("${ENV:K3_TEST_MODEL}")
    monkeypatch.delenv("K3_TEST_MODEL")
    with pytest.raises(ModelError, match="set the environment variable K3_TEST_MODEL"):
        resolve("${ENV:K3_TEST_MODEL}")


def test_a_registered_folder_keeps_its_registered_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "other.toml"
    text = '[models.mine]\nsummary = "s"\nterms = "t"\nsource = {kind = "folder", path = "${ENV:K3_TEST_MODEL}"}\n'
    registry.write_text(text)
    monkeypatch.setattr(registry_module, "REGISTRY_FILE", registry)
    monkeypatch.setenv("K3_TEST_MODEL", str(folder))
    model = resolve("mine")
    assert (model.id, model.folder, model.terms) == ("mine", folder, "t")


def test_a_shipped_model_must_have_the_weights_that_shipped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "other.toml"
    folder.rename(tmp_path / "shipped")
    weights = weights_digest(tmp_path / "shipped")
    text = '[models.mine]\nsummary = "s"\nterms = "t"\n'
    text += f'source = {{kind = "shipped", path = "shipped", revision = "1", weights = "{weights}"}}\n'
    file.write_text(text)
    monkeypatch.setattr(registry_module, "REGISTRY_FILE", file)
    model = resolve("mine")
    assert (model.id, model.folder, model.revision, model.weights) == ("mine", tmp_path / "shipped", "1", weights)
    file.write_text(text.replace(weights, "sha256:" + "0" * 64))
    registry_module._read.cache_clear()
    with pytest.raises(ModelError, match="not those that K3 ships: install K3 again"):
        resolve("mine")
    registry_module._read.cache_clear()


def test_a_hub_snapshot_is_found_in_the_local_cache(folder: Path, hub: Path) -> None:
    target = snapshot(hub, folder)
    model = resolve("org/tiny")
    assert (model.id, model.revision) == ("org/tiny", COMMIT)
    assert model.folder.samefile(target)
    assert resolve(str(target)).revision == COMMIT


def test_an_absent_hub_id_says_how_to_get_it(cache: Path, hub: Path) -> None:
    with pytest.raises(ModelError, match=r"run `hf download org/tiny`$") as caught:
        resolve("org/tiny")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_hub_snapshot_without_its_weights_is_refused(folder: Path, hub: Path) -> None:
    (snapshot(hub, folder) / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no weights"):
        resolve("org/tiny")


@pytest.mark.parametrize("name", ["smollm2-135m", "gemma3-270m"])
def test_a_known_model_that_is_absent_says_which_command_fetches_it(name: str, cache: Path) -> None:
    with pytest.raises(ModelError, match=rf"^{name} is not on this machine: run `k3 models fetch {name}`$"):
        resolve(name)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("gemma-270m", "did you mean gemma3-270m"),
        ("", "no known model"),
        ("zzz", "'zzz' is no known model, model folder or hub id: see `k3 models list`"),
        ("./zzz", "no such model folder"),
        ("a/b/c", "no such model folder"),
        ("../../etc", "no such model folder"),
        ("a\nb", "no known model"),
        ("~nobody-here", "no known model"),
        ("a\0b", "no known model"),
        ("x" * 5000, "no known model"),
    ],
)
def test_an_unknown_name_is_refused_in_one_line(
    name: str, complaint: str, cache: Path, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=complaint) as caught:
        resolve(name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
