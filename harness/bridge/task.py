"""What a request can ask to run: a preset or a suite, as this K3 ships it, and what that leaves."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import UsageError
from harness.bridge.git import Repository
from harness.bridge.manifest import Overrides, Request
from harness.bridge.trees import entry_at, read_blob, size_of
from harness.plans.preset_file import PRESET_LIMIT, load_preset, read_preset
from harness.review.step import PresetStep, TestsStep
from harness.review.suite import FOLDER, load_suite, read_suite
from reports.records.plan import PresetInfo
from reports.records.record import digest_of


class Task(ABC):
    """Something to run under its name. The files that define it are the same on both sides and in the commit."""

    name: str

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """What defines it, by path in a checkout; its own file is the first."""

    @abstractmethod
    def command(self, out: Path) -> list[str]:
        """The command line of `k3` that runs it into the folder `out`."""

    @abstractmethod
    def finished(self, out: Path) -> bool:
        """It came to its end there."""

    @abstractmethod
    def reports(self, out: Path) -> Path:
        """The folder that its reports are in."""

    @abstractmethod
    def allows(self, report: str, made: PresetInfo | None) -> bool:
        """A report of this name may be of that preset."""

    def more(self, out: Path) -> Iterator[Path]:
        """What it leaves beside reports."""
        yield from ()

    @property
    def digest(self) -> str:
        """Of its own file."""
        return digest_of(next(iter(self.files().values())))

    def packages(self) -> frozenset[str]:
        """What its presets need installed."""
        return frozenset()

    def runs_tests(self) -> bool:
        """It runs the commit's tests, and so needs what they need."""
        return False


@dataclass(frozen=True)
class PresetTask(Task):
    """A preset with the values of a request."""

    name: str
    settings: tuple[str, ...]

    def files(self) -> dict[str, bytes]:
        """The preset, and those beside it."""
        return _preset_files(self.name, self.settings)

    def command(self, out: Path) -> list[str]:
        """`k3 eval`."""
        settings = [part for setting in self.settings for part in ("--set", setting)]
        return ["eval", "--preset", self.name, *settings, "--out", str(out / f"{self.name}.json")]

    def finished(self, out: Path) -> bool:
        """Its report is there."""
        return (out / f"{self.name}.json").exists()

    def reports(self, out: Path) -> Path:
        """The folder itself."""
        return out

    def allows(self, report: str, made: PresetInfo | None) -> bool:
        """Its own with these values, or one beside it."""
        preset = load_preset(self.name, self.settings).preset
        if made is None or made.name != self.name:
            return made is not None and made.name in preset.beside
        return (made.digest, made.overrides) == (self.digest, self.settings)

    def packages(self) -> frozenset[str]:
        """What the preset needs."""
        return load_preset(self.name, self.settings).preset.packages()


@dataclass(frozen=True)
class SuiteTask(Task):
    """A suite, as it ships."""

    name: str

    def files(self) -> dict[str, bytes]:
        """The suite, and the presets that it names."""
        found = {f"{FOLDER}/{self.name}.toml": read_suite(self.name)}
        for step in self._presets():
            found |= _preset_files(step.preset, step.set)
        return found

    def command(self, out: Path) -> list[str]:
        """`k3 review`."""
        return ["review", "--suite", self.name, "--out", str(self._folder(out))]

    def finished(self, out: Path) -> bool:
        """Its table of claims is there, which is written last."""
        return (self._folder(out) / "claims.md").exists()

    def reports(self, out: Path) -> Path:
        """Those of the review."""
        return self._folder(out) / "reports"

    def more(self, out: Path) -> Iterator[Path]:
        """What its steps print."""
        yield from sorted((self._folder(out) / "steps").glob("*.out"))

    def allows(self, report: str, made: PresetInfo | None) -> bool:
        """A step's with its values, one beside it, or none, of smoke and tests."""
        if made is None:
            return report not in {step.name for step in self._presets()}
        steps = [step for step in self._presets() if report == step.name or report.startswith(f"{step.name}-")]
        return any(PresetTask(step.preset, step.set).allows(report, made) for step in steps)

    def packages(self) -> frozenset[str]:
        """What its presets need."""
        needed = (PresetTask(step.preset, step.set).packages() for step in self._presets() if not step.optional)
        return frozenset().union(*needed)

    def runs_tests(self) -> bool:
        """A step of it does."""
        return any(isinstance(step, TestsStep) for step in load_suite(self.name).steps)

    def _presets(self) -> list[PresetStep]:
        return [step for step in load_suite(self.name).steps if isinstance(step, PresetStep)]

    def _folder(self, out: Path) -> Path:
        return out / "review"


def task_of(request: Request) -> Task:
    """What the request asks for, as this K3 ships it.

    Raises:
        UsageError: there is none of this name, or it does not take a value of the request.
    """
    return task_named(request.kind, request.preset, request.overrides)


def task_named(kind: str, name: str, overrides: Overrides) -> Task:
    """As `task_of`, by kind and name.

    Raises:
        UsageError: as there.
    """
    if kind == "suite":
        load_suite(name)
        if overrides != Overrides():
            raise UsageError(f"overrides: suite {name} takes none: ask for one of its presets")
        return SuiteTask(name)
    settings = overrides.settings(load_preset(name).preset)
    load_preset(name, settings)
    return PresetTask(name, settings)


def first_difference(task: Task, repository: Repository, commit: str) -> str | None:
    """The first file that defines the task and is not in the commit as this K3 has it."""
    for path, data in task.files().items():
        entry = entry_at(repository, commit, path)
        if entry is None or size_of(repository, entry.blob) > PRESET_LIMIT or read_blob(repository, entry.blob) != data:
            return path
    return None


def _preset_files(name: str, settings: Sequence[str]) -> dict[str, bytes]:
    names = (name, *load_preset(name, settings).preset.beside)
    return {f"presets/{one}.toml": read_preset(one) for one in names}
