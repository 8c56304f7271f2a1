"""The BLAS that MLX multiplies with on Linux, chosen before MLX is loaded.

MLX's Linux wheel links the reference BLAS (2.5 GFLOP/s on the machine it was measured on). An OpenBLAS opened with
global symbols before the first `import mlx.core` is found first by the dynamic linker and takes its place (about 150
to 200 GFLOP/s, float32 only). On macOS MLX uses Accelerate and Metal, and nothing is done.
"""

import ctypes
import ctypes.util
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from harness.engines.mlx.fortran import RUNTIME, lend_fortran_runtime

SWITCH = "K3_BLAS"
PACKAGE = "cmeel-openblas"
LIBRARY = "libopenblas.so.0"


@dataclass(frozen=True)
class BlasInfo:
    """Which BLAS serves MLX.

    `path` names file and package version only, never a folder of this machine. `active` says that the library was
    put in front of MLX's own; `reason` says why, or why not.
    """

    name: str
    path: str | None
    active: bool
    reason: str


@cache
def preload() -> BlasInfo:
    """Open an OpenBLAS ahead of MLX; the first call decides, later ones return what it found.

    Looks in the package `cmeel-openblas`, then for the system's libopenblas. `K3_BLAS=off` switches it off. Never
    imports MLX; once `mlx.core` is imported it is too late and the result says so.
    """
    if sys.platform != "linux":
        name = "Accelerate" if sys.platform == "darwin" else "MLX's own"
        return BlasInfo(name, None, False, f"nothing to preload on {sys.platform}")
    if os.environ.get(SWITCH, "").lower() == "off":
        return BlasInfo("reference BLAS", None, False, f"switched off by {SWITCH}=off")
    if "mlx.core" in sys.modules:
        return BlasInfo("reference BLAS", None, False, "mlx.core was imported before the preload")
    failures = []
    for label, library in _candidates():
        try:
            reason = _open(library)
        except OSError as error:
            failures.append(f"{label}: {str(error).replace(library, LIBRARY)}")
            continue
        return BlasInfo("OpenBLAS", label, True, reason)
    tried = "; ".join(failures) or "no OpenBLAS found"
    return BlasInfo("reference BLAS", None, False, f"{tried}; pip install {PACKAGE}, or apt install libopenblas0")


def blas_threads() -> int | None:
    """How many threads the preloaded OpenBLAS may use now; None where MLX multiplies with something else."""
    if not preload().active:
        return None
    return int(ctypes.CDLL(None).openblas_get_num_threads())


def _open(library: str) -> str:
    """Open `library` with global symbols, with a lent Fortran runtime if that is all it lacks; tells how it went.

    Raises:
        OSError: it cannot be opened, with or without the runtime.
    """
    opened = "opened with global symbols before mlx.core"
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        lender = lend_fortran_runtime() if RUNTIME in str(error) else None
        if lender is None:
            raise
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        return f"{opened}, with the {RUNTIME} of {lender}"
    return opened


def _candidates() -> list[tuple[str, str]]:
    """Libraries to try as (what to call it, what to open), best first."""
    found = []
    packaged = _packaged_library()
    if packaged is not None:
        version, path = packaged
        found.append((f"{path.name} ({PACKAGE} {version})", str(path)))
    system = ctypes.util.find_library("openblas")
    if system is not None:
        found.append((f"{system} (system)", system))
    return found


def _packaged_library() -> tuple[str, Path] | None:
    """Version of the installed package and its library, if both are there."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return None
    for file in package.files or ():
        path = Path(str(package.locate_file(file)))
        if file.name == LIBRARY and path.is_file():
            return package.version, path
    return None
