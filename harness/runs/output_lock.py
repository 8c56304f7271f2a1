"""One process writes one report, and one its journal."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.base.errors import OutputError
from harness.base.file_lock import HeldError, file_lock


@contextmanager
def output_lock(path: Path) -> Iterator[None]:
    """Keep other processes off the report at `path` and its journal while the body runs.

    The lock lies beside the report, as a hidden file that goes with it, unless the process is killed.

    Raises:
        OutputError: another process writes the report, or the folder is not writable.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(path.parent.resolve(strict=True) / f".{path.name}.lock"))
        except HeldError as error:
            raise OutputError(f"{path}: another process is writing it; wait for it, or choose another --out") from error
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}); choose another --out") from error
        yield


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Be the one process that writes the journal of the report at `path` while the body runs.

    If the command that began it was killed just now, its last process may still be about to end: that is waited for.
    """
    with file_lock(path.parent.resolve() / f".{path.name}.rows.lock", waiting=lambda: None):
        yield
