"""A lock file that is held by one process and goes with its holder: taken by `filelock`, left nowhere behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout


class HeldError(Exception):
    """Another process, or another part of this one, holds the lock."""


@contextmanager
def file_lock(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock file at `path` for the body. The lock ends with its process however that dies; its file is deleted
    with the lock, unless the process is killed.

    Raises:
        HeldError: it is held elsewhere and `waiting` is None; with it, `waiting` is called once, then its turn awaited.
        OSError: the folder is not there or cannot be written, its file system knows no locks, or something else than a
            lock file is at `path`.
    """
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if waiting is None:
            raise HeldError(str(path)) from None
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        # While it is still held: who waits for this file sees that it is gone, and takes the lock of a new one.
        with suppress(OSError):
            path.unlink(missing_ok=True)
        lock.release()
