"""GPUs are told where a driver is, and cost a run nothing where none is: the library is asked for real."""

import sys
import threading

import pynvml
import pytest

from harness.base.machine import gpus
from harness.base.machine.watch import MachineWatch


def test_without_the_library_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gpus.read_gpus() is None
    assert MachineWatch(0).reading("before").gpus is None


def has_driver() -> bool:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    pynvml.nvmlShutdown()
    return True


def test_the_driver_tells_of_gpus_and_where_there_is_none_nothing_is_told() -> None:
    found = MachineWatch(0).reading("before").gpus
    if not has_driver():
        assert found is None
        return
    for gpu in found or ():
        assert gpu.megahertz is None or gpu.megahertz > 0
        assert gpu.power_limit_watts is None or 1 < gpu.power_limit_watts < 10_000


def test_what_the_library_refuses_to_tell_is_left_out() -> None:
    """Before `nvmlInit`, it refuses every question."""
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlDeviceGetPerformanceState(None)
    told = gpus._gpu(pynvml, None)
    assert set(told.model_dump().values()) == {None}


def test_a_driver_that_hangs_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    monkeypatch.setattr(gpus, "LONGEST_S", 0.05)
    monkeypatch.setattr(pynvml, "nvmlInit", answers.wait)
    assert gpus.read_gpus() is None
    answers.set()
