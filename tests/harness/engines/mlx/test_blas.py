"""The preload runs in a process of its own: what matters is the order of imports."""

import json
import subprocess
import sys

import pytest

from harness.engines.mlx import blas

REPORT = "import json; from harness.engines.mlx.blas import preload; i = preload(); print(json.dumps(vars(i)))"
PROBE = "import ctypes; print(hasattr(ctypes.CDLL(None), 'openblas_get_config'))"
linux = pytest.mark.skipif(sys.platform != "linux", reason="the preload is a matter of Linux")


def run(code: str, **environment: str) -> str:
    import os

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return done.stdout.strip()


@linux
def test_openblas_stands_in_front_of_mlx() -> None:
    found = json.loads(run(REPORT))
    assert found["active"]
    assert found["name"] == "OpenBLAS"
    assert "/" not in found["path"]
    assert run(f"import harness.engines.mlx, mlx.core; {PROBE}") == "True"


@linux
def test_its_threads_are_those_it_was_given() -> None:
    asked = "from harness.engines.mlx.blas import blas_threads; print(blas_threads())"
    assert run(asked, OPENBLAS_NUM_THREADS="1") == "1"
    assert run(asked, K3_BLAS="off") == "None"


@linux
def test_importing_the_package_loads_no_mlx() -> None:
    assert run("import sys, harness.engines.mlx; print('mlx.core' in sys.modules)") == "False"


@linux
def test_it_can_be_switched_off() -> None:
    found = json.loads(run(REPORT, K3_BLAS="off"))
    assert not found["active"]
    assert found["reason"] == "switched off by K3_BLAS=off"
    assert run(f"import harness.engines.mlx; {PROBE}", K3_BLAS="off") == "False"


@linux
def test_too_late_is_said() -> None:
    found = json.loads(run(f"import mlx.core; {REPORT}"))
    assert not found["active"]
    assert "before the preload" in found["reason"]


@linux
def test_without_any_openblas_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_candidates", list)
    monkeypatch.delitem(sys.modules, "mlx.core", raising=False)
    found = blas.preload.__wrapped__()
    assert not found.active
    assert "pip install cmeel-openblas" in found.reason


def test_macos_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = blas.preload.__wrapped__()
    assert (found.name, found.active) == ("Accelerate", False)
