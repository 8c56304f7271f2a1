"""One process writes one report: the file's lock, which ends with its process however that dies."""

import atexit
import fcntl
import os
from pathlib import Path

from harness.base.errors import OutputError

_held: dict[Path, int] = {}


def hold(path: Path) -> None:
    """Lock the report at `path` until `release`, or this process ends; holding it already is no obstacle.

    The lock lies beside the report, as a hidden file that goes with it, unless the process is killed.

    Raises:
        OutputError: another process writes the report, or the folder is not writable.
    """
    lock = _lock_of(path)
    if lock in _held:
        return
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); choose another --out") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise OutputError(f"{path}: another process is writing it; wait for it, or choose another --out") from error
    except OSError as error:  # a file system without locks
        os.close(descriptor)
        raise OutputError(f"{path}: cannot be locked ({error.strerror}); choose another --out") from error
    if not _holds(lock, descriptor):
        os.close(descriptor)
        raise OutputError(f"{path}: another process has just written it; run the command again")
    _held[lock] = descriptor
    atexit.register(_let_go, lock)


def _holds(lock: Path, descriptor: int) -> bool:
    """The locked file is still the one that is found under the name."""
    try:
        found = os.stat(lock, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))


def release(path: Path) -> None:
    """Let go of the report at `path`, if this process holds it."""
    _let_go(_lock_of(path))


def _lock_of(path: Path) -> Path:
    return path.parent.resolve() / f".{path.name}.lock"


def _let_go(lock: Path) -> None:
    descriptor = _held.pop(lock, None)
    if descriptor is None:
        return
    try:
        lock.unlink(missing_ok=True)
    except OSError:
        return  # the lock itself ends with the process
    finally:
        os.close(descriptor)
