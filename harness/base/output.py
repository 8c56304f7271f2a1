"""Output that cannot be written ends a command in one line; only a reader of stdout who has gone ends nothing."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from harness.base.errors import ReaderGoneError, StreamError


class GuardedStream:
    """A text stream, with what the operating system says against a write told as an `StreamError`.

    After that every other write fails alike, since libraries swallow what their probing of a stream raises; and the
    descriptor leads nowhere, so that what is still buffered does not fail again while Python ends.

    With `dispensable` a reader who has gone (`| head`) is no fault: the command goes on, and its exit code is what it
    is however early the reader went.
    """

    def __init__(self, stream: TextIO, name: str, descriptor: int, *, dispensable: bool = False) -> None:
        self._stream, self._name, self._descriptor = stream, name, descriptor
        self._dispensable = dispensable
        self._failed: StreamError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as a text stream does.

        Raises:
            ReaderGoneError: the reader of a pipe is gone.
            StreamError: the disk is full, the descriptor is closed.
        """
        with self._telling():
            return self._stream.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write them one by one.

        Raises:
            StreamError: as `write`.
        """
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush as a text stream does.

        Raises:
            StreamError: as `write`.
        """
        with self._telling():
            self._stream.flush()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        if self._failed is not None:
            raise self._failed
        try:
            yield
        except OSError as error:
            self._lead_nowhere()
            if self._dispensable and isinstance(error, BrokenPipeError):
                return
            self._failed = self._told(error)
            raise self._failed from error

    def _lead_nowhere(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)

    def _told(self, error: OSError) -> StreamError:
        if isinstance(error, BrokenPipeError):
            return ReaderGoneError(f"nobody reads {self._name} any more")
        return StreamError(f"{self._name} cannot be written ({error.strerror}): give it somewhere else to go")


@contextmanager
def guarded_output() -> Iterator[None]:
    """Guard stdout and stderr while the body runs, and flush what it printed. A closed stderr is not missed, and what
    stdout has no letters for is escaped.

    Raises:
        StreamError: there is no stdout, since it was closed before K3 began; or as `GuardedStream.write`.
    """
    found = sys.stdout, sys.stderr
    if sys.stderr is None:
        # Not left as it is: `print(file=None)` prints to stdout, amid the result.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise StreamError("stdout is closed: give it somewhere to go, for example >/dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout = cast(TextIO, GuardedStream(sys.stdout, "stdout", 1, dispensable=True))
    sys.stderr = cast(TextIO, GuardedStream(sys.stderr, "stderr", 2))
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = found
