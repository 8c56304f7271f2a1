"""The one place that reads clocks."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime


def now() -> float:
    """Seconds on the monotonic clock; only differences mean anything."""
    return time.perf_counter()


def to_nanoseconds(seconds: float) -> float:
    """A difference of two readings, without the digits that no clock tells."""
    return round(seconds, 9)


def asleep() -> float:
    """Seconds that the machine has slept since it was started; only differences mean anything.

    Each system has a clock that goes on while the machine sleeps, and one that stops: CLOCK_BOOTTIME and
    CLOCK_MONOTONIC on Linux (clock_gettime(2)), CLOCK_MONOTONIC_RAW and CLOCK_UPTIME_RAW on macOS (clock_gettime(3)).
    Each pair ticks alike otherwise. `now` is a clock that stops on both.
    """
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime(time.CLOCK_UPTIME_RAW)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def utc_now() -> datetime:
    """The time of day, in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass
class Stopwatch:
    """Adds up the seconds spent in named stages, by the clock `read`. Stages do not nest."""

    read: Callable[[], float] = now
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the body and add it to stage `name`, also when it raises."""
        start = self.read()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.read() - start

    def total(self, name: str) -> float:
        """Seconds spent in `name` so far; 0.0 if it never ran."""
        return self.seconds.get(name, 0.0)
