"""One cell on a worker: `k3 eval` in a process of its own, under the machine's lock, and the reports it made."""

import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from harness.base.clock import now
from harness.base.errors import CannotRunError, K3Error
from harness.base.processes.guarded import Command, run_guarded
from harness.base.processes.host_lock import HOST_LOCK, host_lock
from harness.base.processes.log_end import last_line
from harness.base.provenance import read_source
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset
from harness.sweep.messages import Answer, Asked, MadeFile
from harness.sweep.proof import same_code, too_busy
from reports.records.record import digest_of
from reports.report import ReportError, parse_report
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line

Made = tuple[str, dict[str, bytes]]
"""What goes over the wire: an `Answer` as JSON, and the bytes of its files by name."""
_RUNNING: set[Callable[[], None]] = set()
"""Ends what this process runs, if it runs something."""


def run_cell(asked: Asked, rule_set: int, folder: Path, environment: Mapping[str, str], lock: Path = HOST_LOCK) -> Made:
    """Run one cell in a new folder in `folder`, which is deleted again.

    Whatever goes wrong is an answer, too; only a bug raises.
    """
    try:
        with host_lock(asked.patience_s, lock) as descriptor:
            reason = _unfit(asked, rule_set)
            if reason is not None:
                return _without(Answer(outcome="unfit", reason=reason))
            reason = too_busy(asked.quiet) if asked.quiet is not None else None
            if reason is not None:
                return _without(Answer(outcome="busy", reason=reason))
            with tempfile.TemporaryDirectory(prefix="k3-cell-", dir=folder) as place:
                return _run(asked, Path(place), environment, descriptor)
    except (K3Error, OSError) as error:
        busy = isinstance(error, CannotRunError)
        return _without(Answer(outcome="busy" if busy else "failed", reason=one_line(str(error), 500)))


def stop_cells() -> None:
    """End what this worker runs, from another thread of it: who asked for it is gone."""
    for stop in tuple(_RUNNING):
        with suppress(OSError, ValueError):
            stop()


def _unfit(asked: Asked, rule_set: int) -> str | None:
    if rule_set != asked.rule_set:
        return f"its rule set is {rule_set}, not {asked.rule_set}"
    return None if same_code(read_source(), asked.source) else "it runs another version of K3"


def _run(asked: Asked, place: Path, environment: Mapping[str, str], descriptor: int) -> Made:
    folder, log = place / "out", place / "log.txt"
    folder.mkdir()
    preset = asked.preset
    if asked.own:
        preset = str(place / "preset.toml")
        Path(preset).write_text(asked.preset, encoding="utf-8")
    plan = plan_of(load_preset(preset, asked.overrides))
    if plan.digest() != asked.plan:
        return _without(Answer(outcome="unfit", reason="it makes another plan of the cell"))
    settings = [f"--set={override}" for override in asked.overrides]
    out = str(folder / f"{asked.name}.json")
    argv = (sys.executable, "-P", "-m", "harness.cli", "eval", f"--preset={preset}", *settings, f"--out={out}")
    stopped = threading.Event()

    def started(stop: Callable[[], None]) -> None:
        def end() -> None:
            stopped.set()
            stop()

        _RUNNING.clear()
        _RUNNING.add(end)

    begun = now()
    ended = run_guarded(
        Command(argv, folder, environment, log, place / "group", asked.minutes * 60, keep=(descriptor,)), started
    )
    _RUNNING.clear()
    seconds = now() - begun
    if ended is None:
        outcome = "stopped" if stopped.is_set() else "failed"
        return _without(Answer.model_validate({"outcome": outcome, "reason": "it was ended", "seconds": seconds}))
    if ended.timed_out or ended.exit_code not in (0, 2):
        said = one_line(last_line(log) or "it said nothing", 500)
        reason = f"it ran for more than {number_of(asked.minutes, 'minute')}" if ended.timed_out else said
        return _without(Answer(outcome="failed", reason=reason, seconds=seconds))
    return _collected(asked, folder, seconds)


def _collected(asked: Asked, folder: Path, seconds: float) -> Made:
    files, data = [], {}
    for name in asked.reports:
        try:
            data[name] = read_bounded(folder / name)
            report = parse_report(data[name], folder / name)
        except (RefusedFileError, ReportError) as error:
            return _without(Answer(outcome="failed", reason=one_line(f"{name}: {error}", 500), seconds=seconds))
        verdict = report.gate.verdict if report.gate is not None else "not_evidence"
        files.append(MadeFile(name=name, digest=digest_of(data[name]), verdict=verdict))
    return Answer(outcome="made", files=tuple(files), seconds=seconds).model_dump_json(), data


def _without(answer: Answer) -> Made:
    return answer.model_dump_json(), {}
