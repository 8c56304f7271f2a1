"""One thread for one model: sessions take turns on it, and each waits at most for one turn of every other.

MLX wants a graph built and evaluated in one thread. Work comes as iterators; each step of one is a turn (a chunk read,
a block decoded). Every session has a lane of its own: the calls in it run one after another, and the lanes take turns
in a circle. The lane of a call whose results nobody reads is out of it until somebody does.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self, TypeVar

from harness.base.clock import now
from harness.engines.remote.records import RefusedError
from harness.remote.call import UNREAD, Call

T = TypeVar("T")
CLOSED = RefusedError("UNAVAILABLE", "the server is shutting down")


class DeviceThread:
    """The thread; `tick` is called in it about once every `tick_s`, between turns. Left as a context, it is stopped."""

    def __init__(self, tick_s: float = 1.0) -> None:
        self.tick: Callable[[], None] = lambda: None
        self._lanes: dict[str, deque[Call[object]]] = {}
        self._circle: deque[str] = deque()
        self._unread: dict[str, float] = {}
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
        call: Call[T] = Call(lane, work, self._go_on)
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
            calls = list(self._lanes.get(lane, ()))
        for call in calls:
            call.cancel()

    def end_unread(self, least: float) -> None:
        """Cancel calls whose results have been left unread since `least`."""
        with self._changed:
            calls = [self._lanes[lane][0] for lane, since in self._unread.items() if since <= least]
        for call in calls:
            call.cancel(UNREAD)
            call.on_unread()

    def stop(self) -> None:
        """Let the present turn end, refuse what waits, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while (call := self._next()) is not None:
                ended = call.step()
                with self._changed:
                    lane = self._lanes[call.lane]
                    if ended:
                        lane.popleft()
                    if not lane:
                        del self._lanes[call.lane]
                    elif lane[0].full:
                        self._unread[call.lane] = now()
                    else:
                        self._circle.append(call.lane)
        finally:
            self._refuse_all()
            _release_streams()

    def _go_on(self, call: Call[T]) -> None:
        """Put a lane back into the circle whose first call was read or left."""
        with self._changed:
            if call.lane in self._unread and self._lanes[call.lane][0] is call:
                del self._unread[call.lane]
                self._circle.append(call.lane)
                self._changed.notify()

    def _refuse_all(self) -> None:
        """However the thread ends, nobody waits for it any longer."""
        with self._changed:
            self._closed = True
            waiting = [call for lane in self._lanes.values() for call in lane]
        for call in waiting:
            call.leave(CLOSED)

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


def _release_streams() -> None:
    """Give back what MLX keeps for this thread.

    Left to itself, MLX does so after the thread is joined, in a race with the end of the interpreter, and aborts the
    process: one of five short ones on a busy machine (MLX 0.32).
    """
    mlx = sys.modules.get("mlx.core")
    if mlx is not None:
        mlx.clear_streams()
