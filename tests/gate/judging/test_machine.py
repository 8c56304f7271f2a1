"""How busy the machine was, in words: told at the end, and first where it was too busy."""

from datetime import UTC, datetime

import pytest

from gate.judging.machine import MOST_OTHERS, busy_line, machine_line
from reports.records.measurement import ServedBy
from reports.records.provenance import GpuReading, MachineReading
from reports.report import Report
from tests.gate.honest import Setup, measured_code

AT = datetime(2026, 1, 2, tzinfo=UTC)


def read(*others: float | None, load: float = 0.4, **changes: object) -> Report:
    report = measured_code(Setup(samples=2, repeats=1))
    assert report.provenance is not None
    assert report.provenance.host is not None
    host = report.provenance.host.replace(cores=2)
    readings = []
    for process, share in enumerate(others):
        before = MachineReading(process=process, moment="before", at=AT, load=load)
        readings += [before, before.replace(moment="after", others=share, load=1.9, **changes)]
    return report.replace(provenance=report.provenance.replace(host=host), machine=tuple(readings))


def test_a_report_of_old_says_nothing_of_its_machine() -> None:
    assert machine_line(read()) is busy_line(read()) is None


def test_a_quiet_machine_is_one_sentence() -> None:
    report = read(0.01, 0.03, 0.05, megahertz=2900.0, celsius=61.2)
    assert machine_line(report) == (
        "The machine: other programs kept 3% of its 2 cores busy, load 0.4 before it began, 2900 MHz, 61 degrees "
        "Celsius at most."
    )
    assert busy_line(report) is None


def test_of_gpus_the_greatest_clock_and_heat_and_the_least_limit_are_told() -> None:
    cool = GpuReading(megahertz=1980.0, celsius=48.0, power_limit_watts=700.0, performance_state=0)
    slow = GpuReading(megahertz=1410.0, celsius=71.0, power_limit_watts=550.0)
    assert machine_line(read(0.01, gpus=(cool, slow, GpuReading()))) == (
        "The machine: other programs kept 1% of its 2 cores busy, load 0.4 before it began, GPU 1980 MHz at most, GPU "
        "71 degrees Celsius at most, GPU limited to 550 W."
    )


@pytest.mark.parametrize(("share", "busy"), [(MOST_OTHERS, False), (MOST_OTHERS + 0.01, True)])
def test_a_busy_machine_is_told_first(share: float, busy: bool) -> None:
    found = busy_line(read(share, share))
    assert (found is not None) is busy
    assert found is None or "other programs kept 21% of its 2 cores busy" in found


@pytest.mark.parametrize(("load", "busy"), [(1.0, False), (1.1, True)])
def test_where_only_the_load_is_told_it_is_that_from_before_the_run(load: float, busy: bool) -> None:
    report = read(None, None, load=load)
    assert (busy_line(report) is not None) is busy
    assert machine_line(report) == f"The machine: load {load:g} before it began."


def test_the_server_of_an_arm_is_told_among_the_other_programs() -> None:
    report = read(0.25)
    served = report.arms[-1].replace(served_by=ServedBy(protocol="k3.sessions.v1"))
    report = report.replace(arms=(*report.arms[:-1], served))
    told = "other programs, with the server if it ran here, kept 25% of its 2 cores busy"
    assert told in str(machine_line(report))
    assert busy_line(report) == (
        f"This machine was busy: {told}. Its times are of little worth. Measure again when nothing runs but the server."
    )
