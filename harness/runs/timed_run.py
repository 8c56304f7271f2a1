"""run_preset(plan) -> Report: a timed run, in processes that each load the models anew and run the whole plan once.

What differs from one process to the next (where memory lies, which core it is on) moves every row of a process alike,
so that only several processes show it. They run one after the other, and write into one journal.
"""

from collections.abc import Sequence
from pathlib import Path

from harness.base.progress import Progress
from harness.engines.registry import register, registered
from harness.fetching.fetch import ensure
from harness.plans.plan import RunPlan
from harness.runs.fresh_process import in_fresh_process
from harness.runs.journal import read_journal
from harness.runs.measured_report import measured_report, runs
from harness.runs.timed_process import run_process
from reports.engines import ENGINES, EngineEntry
from reports.report import Report


def run_preset(plan: RunPlan, out: Path, progress: Progress) -> Report:
    """Measure what is left of `plan`: its report, without claims. Of a plan with looks it may not be the last one.

    Every row is kept in the journal beside `out`, where the report is to be; rows that are there are not measured
    again.

    Raises:
        UsageError: the plan does not fit the model. OutputError: the journal cannot be written.
        ModelError: a model is missing, damaged or of no kind that can be run.
        EngineError: an engine cannot do what its arm says.
        CannotRunError: the machine does not stay awake, or a process was killed.
    """
    for model in plan.preset.models():
        ensure(model.name)
    for process in _left(plan, out):
        in_fresh_process(_run_process, (registered(), plan, out, process), progress)
    lines = read_journal(out)
    assert lines is not None
    return measured_report(lines.report, lines.entries)


def _left(plan: RunPlan, out: Path) -> list[int]:
    """The processes with runs that are not in the journal, and the last one, which finds out what is left besides.

    None where a later one was begun: `plan` had come to its end then.
    """
    lines = read_journal(out)
    done = set(runs(lines.entries)) if lines is not None else set()
    last = plan.processes - 1
    if any(one.process > last for one in done):
        return []
    return [*(one for one in range(last) if not done.issuperset(plan.runs_of(one))), last]


def _run_process(others: Sequence[EngineEntry], plan: RunPlan, out: Path, process: int, progress: Progress) -> None:
    for other in others:
        if other.kind.name not in ENGINES:
            register(other.kind, other.built_by)
    run_process(plan, out, process, progress)
