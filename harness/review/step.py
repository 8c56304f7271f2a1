"""The kinds of steps: each is one command of K3 and what it leaves, a report or what it prints."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.base.provenance import ROOT
from harness.base.remedies import SERVE_REMEDY
from harness.plans.companions import plans_beside
from harness.plans.estimates.how_long import about_minutes
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset import TimedPreset
from harness.plans.preset_file import load_preset
from harness.plans.requirements import Requirement, model_requirements, requirements_of
from reports.records.record import Record

StepName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,39}$")]
ModelName = Annotated[str, Field(pattern=r"^[^-\s]\S{0,199}$")]
TestPath = Annotated[str, Field(pattern=r"^tests(/[a-z0-9_]+)*(\.py)?$")]


FROM_CLONE = "`pip install -e '.[run]'` in a clone of K3 and type the same command there"
"""What an install out of a checkout, as README has it, leaves in the checkout."""


class BaseStep(Record, ABC):
    """What every step says of itself, and what is asked of it."""

    prints: ClassVar[bool] = False
    """Its result is what it prints, and no report."""

    name: StepName
    minutes: float | None = Field(None, gt=0, le=10_000, description="About how long, where the suite is made for")

    @abstractmethod
    def arguments(self, report: str) -> tuple[str, ...]:
        """The command line of `k3`, which writes its report to `report`; a step that `prints` writes none."""

    def needs(self) -> Iterator[Requirement]:
        """What it needs of this machine, there or not."""
        yield from ()

    def models(self) -> tuple[str, ...]:
        """The models it loads, by name."""
        return ()

    def about_minutes(self) -> float | None:
        """What the suite says, or its preset."""
        return self.minutes

    def skipped(self) -> str | None:
        """Why it can say nothing here and is left out, if that is so."""
        return None


class DoctorStep(BaseStep):
    """The machine, its packages and models."""

    kind: Literal["doctor"]
    prints: ClassVar[bool] = True

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 doctor`."""
        return "doctor", "--json"


class GateStep(BaseStep):
    """The committed evidence, judged again."""

    kind: Literal["gate"]
    prints: ClassVar[bool] = True

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 gate check` of reports/evidence."""
        return "gate", "check", str(ROOT / "reports" / "evidence"), "--format", "json"

    def skipped(self) -> str | None:
        """In an installed K3, which comes without it."""
        return (
            None
            if (ROOT / "reports" / "evidence").is_dir()
            else f"an installed K3 has no committed evidence: {FROM_CLONE}"
        )


class TestsStep(BaseStep):
    """K3's own tests, as a platform_tests report."""

    __test__ = False  # pytest takes every class named so for a test

    kind: Literal["tests"]
    paths: tuple[TestPath, ...] = Field(("tests",), min_length=1, max_length=40)
    markers: str = Field("not torch and not gemma", pattern=r"^[a-z_ ()]{1,200}$")

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 tests` of the results beside the report, which `pytest_arguments` write."""
        return "tests", results_beside(report), "--out", report

    def pytest_arguments(self, report: str) -> tuple[str, ...]:
        """What runs the tests, for Python."""
        quiet = ("-p", "no:cacheprovider")
        return "-m", "pytest", "-q", *quiet, "-m", self.markers, f"--junitxml={results_beside(report)}", *self.paths

    def skipped(self) -> str | None:
        """Without a checkout or without pytest."""
        if not (ROOT / "tests").is_dir():
            return f"an installed K3 has no tests folder: {FROM_CLONE}, or hand their results over with --tests"
        return None if find_spec("pytest") is not None else "pytest is not installed: pip install pytest hypothesis"


class ResultsStep(BaseStep):
    """Results of a test run that took place before, as a platform_tests report."""

    kind: Literal["results"]
    file: str

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 tests` of them."""
        return "tests", self.file, "--out", report


class SmokeStep(BaseStep):
    """The session protocol, as a runtime_smoke report."""

    kind: Literal["smoke"]
    model: ModelName

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 smoke`."""
        return "smoke", "--model", self.model, "--out", report

    def needs(self) -> Iterator[Requirement]:
        """The model, and gRPC."""
        found = find_spec("grpc") is not None
        yield Requirement("package grpc", "" if found else f"grpc is not installed: {SERVE_REMEDY}")
        yield from model_requirements(self.model, "served")


class VerifyStep(BaseStep):
    """A model's logits beside those of its reference."""

    kind: Literal["verify"]
    prints: ClassVar[bool] = True
    model: ModelName

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 models verify`."""
        return "models", "verify", self.model, "--json"

    def needs(self) -> Iterator[Requirement]:
        """The model."""
        yield from model_requirements(self.model, "compared")


class PresetStep(BaseStep):
    """A preset, as it ships or with other values. `optional`: it is left out where a package is missing."""

    kind: Literal["preset"]
    preset: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    set: tuple[str, ...] = Field((), max_length=40)
    optional: bool = False

    def plans(self) -> tuple[Plan, ...]:
        """The plans of the presets beside it, and its own as the last."""
        plan = plan_of(load_preset(self.preset, self.set))
        return (*plans_beside(plan), plan)

    def sized(self, samples: int | None, processes: int | None) -> "PresetStep":
        """The step with other sizes, where its preset has them."""
        preset = load_preset(self.preset, self.set).preset
        sizes = {"samples": samples, "processes": processes if isinstance(preset, TimedPreset) else None}
        more = tuple(f"{key}={value}" for key, value in sizes.items() if value is not None)
        return self.replace(set=self.set + more)

    def arguments(self, report: str) -> tuple[str, ...]:
        """`k3 eval`."""
        settings = tuple(part for setting in self.set for part in ("--set", setting))
        return "eval", "--preset", self.preset, *settings, "--out", report

    def needs(self) -> Iterator[Requirement]:
        """What its presets need."""
        for plan in self.plans():
            yield from requirements_of(plan.preset)

    def models(self) -> tuple[str, ...]:
        """Those of its presets."""
        return tuple(model.name for plan in self.plans() for model in plan.preset.models())

    def about_minutes(self) -> float | None:
        """What the suite says, else what `k3 eval --plan` tells of its presets; none where that is not known of one."""
        if self.minutes is not None:
            return self.minutes
        known = [found[0] for found in map(about_minutes, self.plans()) if found is not None]
        return round(sum(known), 1) if len(known) == len(self.plans()) else None

    def skipped(self) -> str | None:
        """Without a package, where the suite does without the step then."""
        lacks = (one.problem for one in self.needs() if one.what.startswith("package ") and one.problem)
        return next(lacks, None) if self.optional else None


def results_beside(report: str) -> str:
    """Where the results of a test run lie of which a report is made."""
    return report.removesuffix(".json") + ".xml"
