"""Engines by name: late resolution, and unknown names answered with the nearest one."""

import subprocess
import sys
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.engines.registry import ENGINES, EngineSettings, build

NO_VERIFIER: Any = None


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean incremental") as caught:
        build("incremntal", NO_VERIFIER, EngineSettings())
    assert "\n" not in str(caught.value)


def test_a_name_like_no_other_lists_them() -> None:
    with pytest.raises(
        UsageError, match="there are ar, fused, fused-carry, incremental, mlx-lm-speculative, native-baseline"
    ):
        build("zzz", NO_VERIFIER, EngineSettings())


def test_a_chunk_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="prefill_chunk"):
        build("ar", NO_VERIFIER, EngineSettings(prefill_chunk=0))


def test_every_engine_is_registered_under_its_own_name() -> None:
    import importlib

    for name, target in ENGINES.items():
        module, _, attribute = target.partition(":")
        assert getattr(importlib.import_module(module), attribute).name == name


def test_listing_engines_loads_no_mlx() -> None:
    code = "import sys, harness.engines.registry; print('mlx.core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
