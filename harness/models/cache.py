"""Where fetched models lie, and how a folder of the cache is worked on by one process at a time."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from harness.base.errors import ModelError
from harness.base.file_lock import HeldError, file_lock
from harness.models.registry import PackageSource

CONVERTER = 1
"""Version of the conversion; part of the folder's name, so a better converter never meets an older one's folder."""

CACHE_VARIABLE = "K3_CACHE"


def cache_root() -> Path:
    """The cache folder: `K3_CACHE` if set, else the platform's convention for an application called k3."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("k3", appauthor=False))


def package_folder(name: str, source: PackageSource) -> Path:
    """Where the model converted from `source` lies, or would; names the GGUF and the converter by a short digest."""
    key = hashlib.sha256(f"{source.gguf_sha256} {CONVERTER}".encode()).hexdigest()[:12]
    return cache_root() / "models" / f"{name}-{key}"


@contextmanager
def exclusive(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of model `name`; `waiting` is called once if another live process holds it.

    Raises:
        OSError: the cache is not writable, or its file system knows no locks.
    """
    with file_lock(_lock_file(name), waiting):
        yield


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """A new temporary folder beside the models, removed at the end; call only while holding the lock of `name`.

    What killed fetches left behind is removed first: of `name`, since its lock is ours, and of any other model
    whose lock is free.
    """
    parent = cache_root() / "partial"
    parent.mkdir(parents=True, exist_ok=True)
    for folder in parent.iterdir():
        _remove_if_stale(folder, name)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}@", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_if_stale(folder: Path, held: str) -> None:
    owner = folder.name.partition("@")[0]
    if owner == held:
        shutil.rmtree(folder, ignore_errors=True)
        return
    with suppress(HeldError), file_lock(_lock_file(owner)):
        shutil.rmtree(folder, ignore_errors=True)


def _lock_file(name: str) -> Path:
    folder = cache_root() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.lock"


def require_space(needed: int, name: str) -> None:
    """Check, before anything is downloaded, that the cache's disk has room for `needed` bytes.

    Raises:
        ModelError: it has not.
    """
    root = cache_root()
    free = shutil.disk_usage(next(place for place in (root, *root.parents) if place.exists())).free
    if free < needed:
        raise ModelError(
            f"{name} needs {needed / 1e6:.0f} MB in {root}, {free / 1e6:.0f} MB are free: "
            f"free some, or set {CACHE_VARIABLE} to a folder on another disk"
        )


def install(made: Path, folder: Path, aside: Path) -> None:
    """Rename the finished folder `made` to `folder`; what stood there before moves to `aside`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists() or folder.is_symlink():
        folder.rename(aside)
    made.rename(folder)
