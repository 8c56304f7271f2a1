"""One thread for one model: sessions take turns on it, and each waits at most for one turn of every other.

MLX wants a graph built and evaluated in one thread. Work comes as iterators; each step of one is a turn (a chunk read,
a block decoded). Every session has a lane of its own: the calls in it run one after another, and the lanes take turns
in a circle.
"""

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, Self, TypeVar

from harness.base.clock import now
from harness.engines.remote.records import RefusedError

T = TypeVar("T")
CLOSED = RefusedError("UNAVAILABLE", "the server is shutting down")
CANCELLED = RefusedError("CANCELLED", "the call was cancelled")


class Call(Generic[T]):
    """Work that was handed in. Iterate for what it yields, None left out; what it raises comes out there."""

    def __init__(self, lane: str, work: Iterator[T | None]) -> None:
        self.lane, self.work = lane, work
        self.cancelled = threading.Event()
        self._results: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def cancel(self) -> None:
        """Take no further turn; what the work did so far stands."""
        self.cancelled.set()

    def put(self, item: T) -> None:
        """A result."""
        self._results.put((item, None))

    def end(self, error: BaseException | None = None) -> None:
        """No result follows."""
        self._results.put((None, error or StopIteration()))

    def __iter__(self) -> Iterator[T]:
        while True:
            item, error = self._results.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            assert item is not None
            yield item


class DeviceThread:
    """The thread; `tick` is called in it about once every `tick_s`, between turns. Left as a context, it is stopped."""

    def __init__(self, tick_s: float = 1.0) -> None:
        self.tick: Callable[[], None] = lambda: None
        self._lanes: dict[str, deque[Call[object]]] = {}
        self._circle: deque[str] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._tick_s, self._ticked = tick_s, now()
        self._thread = threading.Thread(target=self._run, name="k3-device", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def submit(self, lane: str, work: Iterator[T | None], most_waiting: int | None = None) -> Call[T]:
        """Hand in work.

        Raises:
            RefusedError: the lane has `most_waiting` calls already, or the thread was stopped.
        """
        call: Call[T] = Call(lane, work)
        with self._changed:
            if self._closed:
                raise CLOSED
            waiting = self._lanes.setdefault(lane, deque())
            if most_waiting is not None and len(waiting) >= most_waiting:
                raise RefusedError(
                    "RESOURCE_EXHAUSTED", f"{len(waiting)} calls of this session wait already; wait for one"
                )
            if not waiting:
                self._circle.append(lane)
            waiting.append(call)  # type: ignore[arg-type]
            self._changed.notify()
        return call

    def run(self, lane: str, work: Iterator[T | None]) -> T:
        """Hand in work that gives one result, and wait for it."""
        (result,) = self.submit(lane, work)
        return result

    def busy(self, lane: str) -> bool:
        """Whether a lane has calls."""
        with self._changed:
            return lane in self._lanes

    def cancel(self, lane: str) -> None:
        """Cancel all calls of a lane."""
        with self._changed:
            for call in self._lanes.get(lane, ()):
                call.cancel()

    def stop(self) -> None:
        """Let the present turn end, refuse what waits, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while (call := self._next()) is not None:
                ended = _take_turn(call)
                with self._changed:
                    lane = self._lanes[call.lane]
                    if ended:
                        lane.popleft()
                    if lane:
                        self._circle.append(call.lane)
                    else:
                        del self._lanes[call.lane]
        finally:
            self._refuse_all()
            _release_streams()

    def _refuse_all(self) -> None:
        """However the thread ends, nobody waits for it any longer."""
        with self._changed:
            self._closed = True
            waiting = [call for lane in self._lanes.values() for call in lane]
        for call in waiting:
            _leave(call)
            call.end(CLOSED)

    def _next(self) -> Call[object] | None:
        """The call whose turn it is; None when the thread is to end."""
        while True:
            if now() - self._ticked >= self._tick_s:
                self.tick()
                self._ticked = now()
            with self._changed:
                if self._closed:
                    return None
                if self._circle:
                    return self._lanes[self._circle.popleft()][0]
                self._changed.wait(self._tick_s)


def _take_turn(call: Call[object]) -> bool:
    """One step of a call; whether it has ended."""
    if call.cancelled.is_set():
        _leave(call)
        call.end(CANCELLED)
        return True
    try:
        item = next(call.work)
    except StopIteration:
        call.end()
        return True
    except BaseException as error:
        call.end(error)
        return True
    if item is not None:
        call.put(item)
    return False


def _leave(call: Call[object]) -> None:
    """Close the work where it stands, so that it can write down that it was left."""
    close = getattr(call.work, "close", None)
    if close is not None:
        with suppress(Exception):
            close()


def _release_streams() -> None:
    """Give back what MLX keeps for this thread.

    Left to itself, MLX does so after the thread is joined, in a race with the end of the interpreter, and aborts the
    process: one of five short ones on a busy machine (MLX 0.32).
    """
    mlx = sys.modules.get("mlx.core")
    if mlx is not None:
        mlx.clear_streams()
