"""One timed run a machine: a lock that every process of the machine can take, whoever's it is."""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.clock import now
from harness.base.errors import CannotRunError

HOST_LOCK = Path("/tmp/k3-run.lock")
"""Not in TMPDIR, which differs by user, and not in a home folder, which several machines may share."""
LOOK_S = 0.1


@contextmanager
def host_lock(patience_s: float | None, path: Path = HOST_LOCK) -> Iterator[int]:
    """Hold the machine for the body. Gives the descriptor of the lock: a child that inherits it holds the lock, too,
    and it is free when the last of them has ended, however that was. The file stays. Without patience (None) whoever
    waits is woken when the lock is free, ahead of those who look now and then.

    Raises:
        CannotRunError: it is held elsewhere for longer than `patience_s`, or cannot be opened.
    """
    try:
        descriptor = _opened(path)
    except OSError as error:
        raise CannotRunError(f"{path}: cannot be opened ({error.strerror}), so this machine cannot be kept") from error
    try:
        begun = now()
        while not _taken(descriptor, fcntl.LOCK_EX if patience_s is None else fcntl.LOCK_EX | fcntl.LOCK_NB):
            if patience_s is not None and now() - begun >= patience_s:
                raise CannotRunError(f"{path}: another run holds this machine")
            threading.Event().wait(LOOK_S)
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """Open the lock, made for everybody if it is not there. Linux refuses O_CREAT on another user's file in /tmp."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        try:
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return os.open(path, flags)
    os.fchmod(descriptor, 0o666)
    return descriptor


def _taken(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    return True
