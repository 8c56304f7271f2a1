"""Standard output that cannot be written ends a command in one line, whichever command it is."""

import io
import os
import sys

from harness.base.errors import OutputError


class Stdout(io.TextIOWrapper):
    """`sys.stdout`, with what the operating system says against a write told as an `OutputError`.

    After that the descriptor leads nowhere, so that what is still buffered does not fail again while Python ends.
    """

    def write(self, text: str) -> int:
        """Write as a text stream does.

        Raises:
            OutputError: the disk is full, the reader of a pipe is gone, the descriptor is closed.
        """
        try:
            return super().write(text)
        except OSError as error:
            raise _given_up(error) from error

    def flush(self) -> None:
        """Flush as a text stream does.

        Raises:
            OutputError: as `write`.
        """
        try:
            super().flush()
        except OSError as error:
            raise _given_up(error) from error


def guard_stdout() -> None:
    """Put a `Stdout` in the place of `sys.stdout`.

    Raises:
        OutputError: there is no stdout; it was closed before K3 began.
    """
    found = sys.stdout
    if found is None:
        raise OutputError("stdout is closed: give it somewhere to go, for example >/dev/null")
    if isinstance(found, io.TextIOWrapper):
        sys.stdout = Stdout(
            found.detach(), encoding=found.encoding, errors=found.errors, line_buffering=found.line_buffering
        )


def _given_up(error: OSError) -> OutputError:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return OutputError(f"stdout cannot be written ({error.strerror}): give it somewhere else to go")
