"""The Fortran runtime that OpenBLAS asks for, on machines that have none.

The OpenBLAS of `cmeel-openblas` needs a library called `libgfortran.so.5`, which a bare Linux lacks. The wheels of
MLX and numpy bring one, but under a name of their own (auditwheel appends a digest to file name and SONAME), so the
dynamic linker does not recognise it. Here such a copy is opened under the name that is asked for: its bytes go into
an anonymous file in memory with the SONAME put back, and nothing is written to disk.
"""

import ctypes
import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

RUNTIME = "libgfortran.so.5"
LENDERS = ("mlx-cpu", "numpy")


def lend_fortran_runtime() -> str | None:
    """Make `libgfortran.so.5` known to the dynamic linker of this process.

    Returns the name and version of the package whose copy was opened, or None if none was found or could be opened.
    """
    for package in LENDERS:
        found = _find(package)
        if found is None:
            continue
        version, runtime, companions = found
        try:
            for companion in companions:
                ctypes.CDLL(str(companion))
            _open_as(RUNTIME, runtime)
        except OSError:
            continue
        return f"{package} {version}"
    return None


def _find(package: str) -> tuple[str, Path, list[Path]] | None:
    """Version of a lender, its copy of the runtime, and the copies of libquadmath that this needs."""
    try:
        lender = distribution(package)
    except PackageNotFoundError:
        return None
    files = [Path(str(lender.locate_file(file))) for file in lender.files or () if ".so" in file.name]
    runtimes = [file for file in files if file.name.startswith("libgfortran-") and file.is_file()]
    if not runtimes:
        return None
    return lender.version, runtimes[0], [file for file in files if file.name.startswith("libquadmath-")]


def _open_as(soname: str, library: Path) -> None:
    """Open `library` under the shorter SONAME `soname` (auditwheel's SONAME is the file's own name).

    Raises:
        OSError: the file has another SONAME, memory files are not allowed, or the linker refuses it.
    """
    own, wanted = library.name.encode() + b"\0", soname.encode()
    image = library.read_bytes()
    if own not in image or len(wanted) >= len(own):
        raise OSError(f"{library.name} does not carry its own file name as SONAME")
    descriptor = os.memfd_create(soname)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(image.replace(own, wanted.ljust(len(own), b"\0")))
        ctypes.CDLL(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
