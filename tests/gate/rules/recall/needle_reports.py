"""Needle reports and edits of them, for the rules of recall."""

from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_niah

CLAIM, ORACLE, NATIVE = "restoration_recall/identity", "oracle_recall/oracle", "native_baseline_recall/native"


def niah(samples: int = 5, **changes: object) -> Report:
    """A needle report, each prompt once."""
    return measured_niah(Setup(**({"samples": samples, "repeats": 1} | changes)))  # type: ignore[arg-type]


def restoration(report: Report, name: str, **changes: object) -> Report:
    """An arm's restoration edited."""
    return edit_arm(report, name, lambda arm: arm.replace(restoration=arm.restoration.replace(**changes)))


def rows_of(report: Report, name: str) -> tuple[Measurement, ...]:
    return next(arm for arm in report.arms if arm.name == name).measurements


def prompts(report: Report, which: str, **changes: object) -> Report:
    """The prompts of a set edited."""
    assert report.workload is not None
    edited = tuple(p.replace(**changes) if p.prompt_set == which else p for p in report.workload.prompts)
    return report.replace(workload=report.workload.replace(prompts=edited))
