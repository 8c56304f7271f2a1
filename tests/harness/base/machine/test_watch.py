"""The machine is told as the system knows it."""

import time
from pathlib import Path

from harness.base.machine.watch import MachineWatch


def test_the_machine_tells_what_others_took_and_not_what_this_process_did() -> None:
    watch = MachineWatch(3)
    before = watch.reading("before")
    assert (before.process, before.moment, before.others) == (3, "before", None)
    assert before.load is not None
    started = time.process_time()
    while time.process_time() - started < 0.3:
        pass
    after = watch.reading("after")
    if Path("/proc/stat").exists():
        assert after.others is not None
        assert 0 <= after.others <= 1
    assert after.at >= before.at
