"""Suites as files: one TOML file each, that ships or is the user's own. A suite is a title and steps in their order."""

import json
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from harness.base.errors import UsageError
from harness.plans.preset_file import is_path, read_own
from harness.review.step import DoctorStep, GateStep, PresetStep, ResultsStep, SmokeStep, TestsStep, VerifyStep
from reports.records.record import Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.nearest import unknown
from reports.untrusted.one_line import one_line
from reports.untrusted.toml import parse_toml

Step = DoctorStep | TestsStep | ResultsStep | SmokeStep | VerifyStep | GateStep | PresetStep
SUITE = r"[a-z0-9][a-z0-9_-]{0,39}"
FOLDER = "harness/review/suites"
"""Where those that ship lie, from the top of a checkout."""


class Suite(Record):
    """What is run, in this order, and what all of it takes."""

    name: Annotated[str, Field(pattern=rf"^{SUITE}$")]
    title: str = Field(max_length=200)
    memory_gb: float = Field(gt=0, le=10_000, description="Largest peak of a step, 1e9 bytes")
    disk_gb: float = Field(gt=0, le=10_000, description="Models that it fetches and what it writes, 1e9 bytes")
    steps: tuple[Annotated[Step, Field(discriminator="kind")], ...] = Field(min_length=1, max_length=40)

    @model_validator(mode="after")
    def _own_names(self) -> Self:
        name, count = Counter(step.name for step in self.steps).most_common(1)[0]
        if count > 1:
            raise ValueError(f"{count} steps are named {name!r}; give every step a name of its own")
        return self

    def sized(self, samples: int | None, processes: int | None) -> "Suite":
        """The suite with other sizes of its presets.

        Raises:
            UsageError: a size that a preset cannot have.
        """
        steps = (step.sized(samples, processes) if isinstance(step, PresetStep) else step for step in self.steps)
        return self.replace(steps=tuple(steps))

    def with_results(self, results: Path) -> "Suite":
        """The suite with results of a test run that took place in place of one.

        Raises:
            UsageError: it runs no tests.
        """
        own = [step for step in self.steps if isinstance(step, TestsStep)]
        if not own:
            raise UsageError(f"suite {self.name}: runs no tests, for which --tests would stand in")
        file = str(results.absolute())
        taken = {step.name: ResultsStep(kind="results", name=step.name, file=file) for step in own}
        return self.replace(steps=tuple(taken.get(step.name, step) for step in self.steps))


def suite_names() -> tuple[str, ...]:
    """Names of the suites shipped with K3, sorted."""
    files = resources.files("harness.review").joinpath("suites").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def load_suite(name: str) -> Suite:
    """A shipped suite by its name, or one of the user's by the path of its file.

    Raises:
        UsageError: unknown suite (the nearest one is named), or a file that is none.
    """
    data = read_suite(name)
    try:
        # Through JSON, since strict records take a list for a tuple only there.
        return Suite.model_validate_json(json.dumps(parse_toml(data)))
    except ValidationError as error:
        raise UsageError(f"suite {name}: {describe_invalid(error, Suite)}") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"suite {name}: no TOML of a suite: {one_line(str(error))}") from error


def read_suite(name: str) -> bytes:
    """The file of the suite with this name or path.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    if not is_path(name):
        if name not in suite_names():
            raise UsageError(unknown("suite", name, suite_names()))
        return resources.files("harness.review").joinpath("suites", f"{name}.toml").read_bytes()
    return read_own("suite", name)
