"""A run of an evaluation that takes a second: its arguments, and an arm of its report."""

from pathlib import Path

from reports.records.measurement import Arm
from reports.report import Report

SETTINGS = ("--set", "workload.lines=20", "--set", "max_new_tokens=6", "--samples", "3")


def arguments(model: Path, out: Path, *more: str) -> list[str]:
    return ["eval", "--preset", "recall-smollm2", "--set", f"model={model}", *SETTINGS, "--out", str(out), *more]


def arm_of(report: Report, name: str) -> Arm:
    return next(arm for arm in report.arms if arm.name == name)
