"""Runs the steps of a suite in order, each as a process of its own; what is finished already is left as it is."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import now
from harness.base.errors import CannotRunError
from harness.base.file_lock import HeldError, file_lock
from harness.base.processes.guarded import Command, Ended, end_left_over, run_guarded
from harness.base.processes.log_end import last_line
from harness.base.progress import QUIET_S, beside
from harness.base.provenance import ROOT, read_host, read_source, without_home
from harness.plans.companions import path_beside, settled
from harness.plans.plan import Plan
from harness.review.folder import ReviewFolder, StepRecord
from harness.review.step import BaseStep, PresetStep, ResultsStep, TestsStep
from harness.review.suite import Suite
from reports.journal import journal_of
from reports.report import ReportError, load_report
from reports.untrusted.one_line import one_line

WEEK_S = 7 * 24 * 3600.0
"""After which a step that hangs is killed."""
INTERRUPTED = 130
RAN = (0, 2)
"""Exit codes of a step that left a report: what the gate says of it is asked of the report, not of the code."""


@dataclass(frozen=True)
class Review:
    """A suite in a folder. A step that runs long is said to run every `beat_s` seconds."""

    suite: Suite
    folder: ReviewFolder
    say: Callable[[str], None]
    beat_s: float = QUIET_S

    def run(self) -> dict[str, StepRecord]:
        """Bring every step to its end, and tell how each came there.

        Raises:
            CannotRunError: another review works in the folder. KeyboardInterrupt: a step was interrupted.
        """
        try:
            with file_lock(self.folder.lock):
                return dict(self._run())
        except HeldError as error:
            raise CannotRunError(f"{self.folder.top}: another review works in it: wait for it") from error

    def begun(self, step: BaseStep) -> StepRecord:
        """The record of the step as it would be begun now."""
        arguments = tuple(map(without_home, step.arguments(f"{step.name}.json")))
        return StepRecord(arguments=arguments, source=read_source(), host=read_host())

    def finished(self, step: BaseStep) -> bool:
        """What the step leaves is there, whole, of this command, of this code and on this machine."""
        record = self.folder.read(step.name)
        if record is None or not record.same_run(self.begun(step)) or isinstance(step, ResultsStep):
            return False
        if step.prints:
            return record.state == "finished" and self.folder.printed(step.name).exists()
        if isinstance(step, PresetStep):
            return all(settled(plan, path) for plan, path in self._places(step))
        return _stands(self.folder.report(step.name), record)

    def _run(self) -> Iterator[tuple[str, StepRecord]]:
        count = len(self.suite.steps)
        for number, step in enumerate(self.suite.steps, 1):
            record = self._bring_to_end(step, f"{number}/{count} {step.name}")
            yield step.name, record

    def _bring_to_end(self, step: BaseStep, where: str) -> StepRecord:
        begun = self.begun(step)
        if (reason := step.skipped()) is not None:
            self.say(f"{where}: skipped: {reason}")
            return self.folder.keep(step.name, begun.replace(state="skipped", reason=reason))
        record = self.folder.read(step.name)
        if record is not None and self.finished(step):
            self.say(f"{where}: is finished")
            return (
                record if record.state == "finished" else self.folder.keep(step.name, begun.replace(state="finished"))
            )
        self._make_room(step, record is not None and record.same_run(begun), where)
        self.folder.keep(step.name, begun)
        self.say(f"{where}: runs; log: {self.folder.log(step.name)}")
        start = now()
        with beside(lambda: self.say(f"{where}: {now() - start:.0f} s; {self._last_words(step)}"), self.beat_s):
            ended = self._execute(step)
        reason = self._why_failed(step, ended)
        seconds = now() - start
        self.say(f"{where}: {'finished' if reason is None else f'failed: {reason}'} after {seconds:.0f} s")
        state = "finished" if reason is None else "failed"
        return self.folder.keep(step.name, begun.replace(state=state, reason=reason, seconds=seconds))

    def _make_room(self, step: BaseStep, same: bool, where: str) -> None:
        """Take away what is in the way: rows that the same run goes on from stay, an unfinished other run is kept."""
        taken = [path for _, path in self._places(step) if path.exists()] if isinstance(step, PresetStep) else []
        if same and not taken:
            kept = journal_of(self.folder.report(step.name)) if isinstance(step, PresetStep) else None
            for path in self.folder.left(step.name):
                if path not in (kept, self.folder.log(step.name)):
                    path.unlink()
        elif (aside := self.folder.set_aside(step.name)) is not None:
            self.say(f"{where}: what is there is of another plan, other code or another machine: kept in {aside}")

    def _execute(self, step: BaseStep) -> Ended | None:
        report = str(self.folder.report(step.name))
        if isinstance(step, TestsStep):
            ended = self._guarded(step, step.pytest_arguments(report))
            if ended is None or ended.exit_code < 0:
                return ended
        output = self.folder.printed(step.name) if step.prints else None
        return self._guarded(step, ("-m", "harness.cli", *step.arguments(report)), output)

    def _guarded(self, step: BaseStep, arguments: tuple[str, ...], output: Path | None = None) -> Ended | None:
        """Run Python with these arguments, in the folder that holds this K3, so that the same code runs."""
        end_left_over(self.folder.group, self.folder.reports)
        ended = run_guarded(
            Command(
                argv=(sys.executable, *arguments),
                folder=ROOT,
                environment=os.environ,
                log=self.folder.log(step.name),
                group=self.folder.group,
                seconds=WEEK_S,
                output=output,
            )
        )
        end_left_over(self.folder.group, self.folder.reports)
        return ended

    def _why_failed(self, step: BaseStep, ended: Ended | None) -> str | None:
        """One line; None if the step left what it should.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        if ended is None:
            return "was killed"
        if ended.exit_code == INTERRUPTED:
            raise KeyboardInterrupt
        if ended.exit_code < 0:
            return f"was killed by signal {-ended.exit_code}, as a system does that is out of memory"
        there = self.folder.printed(step.name) if step.prints else self.folder.report(step.name)
        if ended.exit_code in RAN and there.exists():
            return None
        return f"exit code {ended.exit_code}: {self._last_words(step)}"

    def _last_words(self, step: BaseStep) -> str:
        return one_line(last_line(self.folder.log(step.name)) or "nothing in the log", 500)

    def _places(self, step: PresetStep) -> list[tuple[Plan, Path]]:
        """The plans of a step and where their reports go."""
        *beside, plan = step.plans()
        out = self.folder.report(step.name)
        return [*((part, path_beside(out, part)) for part in beside), (plan, out)]


def _stands(path: Path, record: StepRecord) -> bool:
    """A judged report of this code on this machine is there."""
    try:
        found = load_report(path)
    except ReportError:
        return False
    made = found.provenance
    return found.gate is not None and made is not None and (made.source, made.host) == (record.source, record.host)
