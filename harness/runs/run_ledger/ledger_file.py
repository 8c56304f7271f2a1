"""The run ledger's file: where it lies, and how one line is added by one process at a time."""

import os
from pathlib import Path

import platformdirs

from harness.base.file_lock import file_lock
from harness.runs.run_ledger.chain import Chain, read_chain
from harness.runs.run_ledger.entries import AnyEntry
from reports.records.record import Digest
from reports.untrusted.files import RefusedFileError, read_bounded

STATE_VARIABLE = "K3_STATE"
FILE_NAME = "runs.jsonl"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def state_folder() -> Path:
    """K3's state folder: `K3_STATE` if set, else the platform's convention for an application called k3.

    Raises:
        OSError: it is in the home of a user who has none.
    """
    chosen = os.environ.get(STATE_VARIABLE)
    try:
        folder = Path(chosen).expanduser().absolute() if chosen else platformdirs.user_state_path("k3", appauthor=False)
    except RuntimeError as error:
        raise OSError(0, f"{chosen} names no home folder") from error
    if not folder.is_absolute():
        raise OSError(0, f"this user has no home folder: set {STATE_VARIABLE} to a folder")
    return folder


def read_ledger(folder: Path) -> Chain:
    """The chain as it is now; an empty one if there is no file.

    Raises:
        OSError: it cannot be read.
    """
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return Chain()
    try:
        return read_chain(read_bounded(path))
    except RefusedFileError as error:
        raise OSError(0, str(error)) from error


def append(entry: AnyEntry, folder: Path) -> Digest:
    """Add `entry` to the chain; it is on disk when its digest is returned. Waits for the writer before it.

    Raises:
        OSError: the folder cannot be made or written, or the disk is full. What was there is as it was, but for a part
            of a line, which the next writer tells of.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file_lock(folder / f".{FILE_NAME}.lock", waiting=lambda: None):
        chain = read_ledger(folder)
        data, digest = chain.appended(entry)
        descriptor = os.open(folder / FILE_NAME, _FLAGS, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if chain.head is None:
            _sync(folder)
    return digest


def _sync(folder: Path) -> None:
    """A new file is on disk when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
