"""A call that was handed to the device thread: its work, and the results that wait for whoever made it."""

import queue
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

from harness.engines.remote.records import RefusedError

T = TypeVar("T")
MOST_UNREAD = 64
"""Results that wait to be read; a call with so many takes no turn, and holds up nobody but its own lane."""
CANCELLED = RefusedError("CANCELLED", "the call was cancelled")
UNREAD = RefusedError("CANCELLED", "what the call gave was left unread for too long; read frames as they come")


class Call(Generic[T]):
    """Iterate for what the work yields, None left out; what it raises comes out there.

    One thread takes turns (`step`), one other reads. `on_unread` is called where the work ends since nobody reads: the
    thread that reads may itself wait for the client.
    """

    def __init__(self, lane: str, work: Iterator[T | None], changed: "Callable[[Call[T]], None]") -> None:
        """`changed` is called where a call that took no turns may have one again: it was read, or has been left."""
        self.lane = lane
        self.on_unread: Callable[[], object] = lambda: None
        self._work, self._changed = work, changed
        self._left: RefusedError | None = None
        self._results: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    @property
    def full(self) -> bool:
        """A turn now would only add to what nobody reads."""
        return self._left is None and self._results.qsize() >= MOST_UNREAD

    def cancel(self, why: RefusedError = CANCELLED) -> None:
        """Take no further turn; what the work did so far stands. The first who cancels says why."""
        self._left = self._left or why
        self._changed(self)

    def step(self) -> bool:
        """One turn; whether the work has ended."""
        if self._left is not None:
            self.leave(self._left)
            return True
        try:
            item = next(self._work)
        except StopIteration:
            self._results.put((None, StopIteration()))
            return True
        except BaseException as error:
            self._results.put((None, error))
            return True
        if item is not None:
            self._results.put((item, None))
        return False

    def leave(self, why: RefusedError) -> None:
        """Close the work where it stands, so that it can write down that it was left; no result follows."""
        close = getattr(self._work, "close", None)
        if close is not None:
            with suppress(Exception):
                close()
        self._results.put((None, why))

    def __iter__(self) -> Iterator[T]:
        while True:
            item, error = self._results.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            self._changed(self)
            assert item is not None
            yield item
