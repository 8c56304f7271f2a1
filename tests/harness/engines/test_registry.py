"""Engines by name: late resolution, unknown names answered with the nearest one, and engines of other packages."""

import subprocess
import sys
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.engines.registry import build, engine_class
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec, foreign_to
from reports.engines import ENGINES, MLX, TORCH

NO_VERIFIER: Any = None
NGRAM = DrafterSpec(kind="ngram")


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean incremental") as caught:
        build("incremntal", NO_VERIFIER, EngineSettings())
    assert "\n" not in str(caught.value)


def test_a_name_like_no_other_lists_them() -> None:
    with pytest.raises(UsageError, match=f"there are {', '.join(sorted(ENGINES))}"):
        build("zzz", NO_VERIFIER, EngineSettings())


@pytest.mark.parametrize("name", [name for name, kind in ENGINES.items() if not kind.bounds])
def test_an_engine_that_bounds_nothing_is_not_built_to_restore(name: str) -> None:
    drafter = NGRAM if ENGINES[name].drafts else None
    settings = EngineSettings(restoration=RestorationSpec(restoration="identity"), drafter=drafter)
    with pytest.raises(UsageError, match=f"engine {name} restores nothing; use engine incremental or fused"):
        build(name, NO_VERIFIER, settings)


@pytest.mark.parametrize("name", list(ENGINES))
def test_an_engine_has_a_drafter_if_and_only_if_it_drafts(name: str) -> None:
    wrong = EngineSettings(drafter=None if ENGINES[name].drafts else NGRAM)
    with pytest.raises(UsageError, match="needs a drafter" if ENGINES[name].drafts else "drafts nothing"):
        build(name, NO_VERIFIER, wrong)


@pytest.mark.parametrize("name", [name for name, kind in ENGINES.items() if MLX in kind.backends])
def test_the_file_and_the_class_of_an_engine_are_named_after_it(name: str) -> None:
    assert engine_class(name).kind is ENGINES[name]  # type: ignore[attr-defined]


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name, kind in ENGINES.items() if TORCH in kind.backends])
def test_on_pytorch_they_are_found_by_the_same_names(name: str) -> None:
    assert engine_class(name, TORCH).kind == ENGINES[name].on(TORCH)  # type: ignore[attr-defined]


def test_an_engine_of_one_backend_alone_is_refused_on_the_other() -> None:
    fault = foreign_to(ENGINES["mlx-lm-speculative"], TORCH)
    assert fault is not None
    assert "torch has ar, native-baseline, incremental, fused, fused-carry" in fault
    assert not any(foreign_to(kind, MLX) for kind in ENGINES.values() if kind.backends != (TORCH,))


def test_listing_engines_loads_no_mlx() -> None:
    code = "import sys, harness.engines.registry; print('mlx.core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
