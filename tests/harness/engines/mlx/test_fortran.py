"""A lent Fortran runtime answers to the name OpenBLAS asks for."""

import subprocess
import sys

import pytest

CODE = """
import ctypes
from harness.engines.mlx.fortran import lend_fortran_runtime
print(lend_fortran_runtime())
ctypes.CDLL("libgfortran.so.5")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="wheels lend their runtime on Linux only")
def test_the_linker_finds_it_by_its_plain_name() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("mlx-cpu ", "numpy "))
