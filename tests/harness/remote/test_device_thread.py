import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.clock import now
from harness.engines.remote.records import RefusedError
from harness.remote.call import MOST_UNREAD
from harness.remote.device_thread import DeviceThread

ROOT = Path(__file__).parents[3]


@pytest.fixture
def device() -> Iterator[DeviceThread]:
    thread = DeviceThread()
    yield thread
    thread.stop()


def turns(name: str, count: int, log: list[str], begin: threading.Event) -> Iterator[str | None]:
    begin.wait()
    for _ in range(count):
        log.append(name)
        yield name
        yield None


def test_lanes_take_turns_and_calls_of_a_lane_do_not(device: DeviceThread) -> None:
    log: list[str] = []
    begin = threading.Event()
    calls = [device.submit(lane, turns(f"{lane}{n}", 3, log, begin)) for lane in "ab" for n in (1, 2)]
    begin.set()
    assert [list(call) for call in calls] == [["a1"] * 3, ["a2"] * 3, ["b1"] * 3, ["b2"] * 3]
    assert log == ["a1", "b1"] * 3 + ["a2", "b2"] * 3


def test_all_work_is_done_in_one_thread(device: DeviceThread) -> None:
    def where() -> Iterator[int]:
        yield threading.get_ident()

    idents = {device.run(str(lane), where()) for lane in range(5)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


def test_what_work_raises_comes_out_and_the_thread_goes_on(device: DeviceThread) -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise KeyError("gone")

    call = device.submit("a", fails())
    results = iter(call)
    assert next(results) == 1
    with pytest.raises(KeyError, match="gone"):
        next(results)
    assert device.run("a", iter([2])) == 2


def test_cancelled_work_is_closed_between_turns(device: DeviceThread) -> None:
    left = threading.Event()
    stepped = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                stepped.set()
                yield 1
        finally:
            left.set()

    call = device.submit("a", endless())
    stepped.wait(5)
    call.cancel()
    with pytest.raises(RefusedError) as refused:
        list(call)
    assert refused.value.status == "CANCELLED"
    assert left.is_set()


def test_a_lane_takes_so_many_calls(device: DeviceThread) -> None:
    hold = threading.Event()

    def waits() -> Iterator[int]:
        hold.wait()
        yield 1

    calls = [device.submit("a", waits(), most_waiting=2) for _ in range(2)]
    with pytest.raises(RefusedError) as refused:
        device.submit("a", waits(), most_waiting=2)
    assert refused.value.status == "RESOURCE_EXHAUSTED"
    assert device.busy("a")
    hold.set()
    assert [list(call) for call in calls] == [[1], [1]]


def test_a_thread_is_stopped_where_what_it_serves_cannot_be_loaded() -> None:
    def load() -> Iterator[int]:
        raise ValueError("damaged")
        yield 1

    with pytest.raises(ValueError, match="damaged"), DeviceThread() as device:
        device.run("load", load())
    with pytest.raises(RefusedError, match="shutting down"):
        device.submit("a", iter([1]))


def test_a_stopped_thread_refuses() -> None:
    device = DeviceThread()
    hold = threading.Event()

    def waits() -> Iterator[int]:
        hold.wait()
        yield 1
        yield 2

    call = device.submit("a", waits())
    threading.Timer(0.05, hold.set).start()
    device.stop()
    with pytest.raises(RefusedError, match="shutting down"):
        list(call)
    with pytest.raises(RefusedError, match="shutting down"):
        device.submit("a", iter([1]))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_fails_lets_go_of_whoever_waits() -> None:
    device, ticking, hold = DeviceThread(tick_s=0.01), threading.Event(), threading.Event()

    def fails() -> None:
        ticking.set()
        hold.wait()
        raise KeyError("gone")

    device.tick = fails
    ticking.wait(5)
    call = device.submit("a", iter([1]))
    hold.set()
    with pytest.raises(RefusedError, match="shutting down"):
        list(call)
    device.stop()


ENDS = """
import mlx.core as mx
from harness.remote.device_thread import DeviceThread

def multiply():
    square = mx.random.normal((64, 64))
    kept.append(square @ square)
    mx.eval(kept)
    yield 1

kept = []
device = DeviceThread()
device.run("a", multiply())
device.stop()
"""


def test_a_process_that_stopped_the_thread_ends_as_it_should() -> None:
    """MLX tore its streams down while the interpreter ended: one of five such processes aborted on a busy machine."""
    together = [subprocess.Popen([sys.executable, "-c", ENDS], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(8)]
    assert [(process.wait(), process.communicate()[1]) for process in together] == [(0, b"")] * 8


def test_results_that_nobody_reads_are_bounded_and_hold_up_no_other_lane(device: DeviceThread) -> None:
    made: list[int] = []

    def count() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    call = device.submit("unread", count())
    while len(made) < MOST_UNREAD:
        device.run("other", iter([1]))
    assert [device.run("other", iter([n])) for n in range(200)] == list(range(200))
    assert len(made) == MOST_UNREAD
    assert list(call) == list(range(1000)), "who reads again gets all of them, in order"
    assert not device.busy("unread")


def test_what_is_left_unread_for_too_long_is_ended_and_the_lane_goes_on(device: DeviceThread) -> None:
    left, told = threading.Event(), threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            left.set()

    call, after = device.submit("a", endless()), device.submit("a", iter([2]))
    call.on_unread = told.set
    while not device._unread:
        device.run("b", iter([1]))
    device.end_unread(now() - 3600)
    assert not told.is_set()
    device.end_unread(now())
    assert list(after) == [2]
    assert left.is_set()
    assert told.is_set()
    results = iter(call)
    assert [next(results) for _ in range(MOST_UNREAD)] == [1] * MOST_UNREAD
    with pytest.raises(RefusedError) as refused:
        next(results)
    assert refused.value.status == "CANCELLED"
    assert "unread" in str(refused.value)


def test_a_lane_that_nobody_reads_is_cancelled_and_stopped_like_any(device: DeviceThread) -> None:
    calls = [device.submit(lane, itertools.repeat(1)) for lane in "ab"]
    while len(device._unread) < 2:
        device.run("c", iter([1]))
    device.cancel("a")
    with pytest.raises(RefusedError, match="cancelled"):
        list(calls[0])
    device.stop()
    with pytest.raises(RefusedError, match="shutting down"):
        list(calls[1])
