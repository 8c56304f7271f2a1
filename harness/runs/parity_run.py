"""run_preset(plan) -> Report: two runtimes of one drafter, asked for the same blocks after the same prompts.

Nothing is kept of a run that did not come to its end: it takes minutes, and a part of it shows nothing.
"""

from pathlib import Path

from harness.base.errors import OutputError
from harness.base.progress import Progress
from harness.plans.parity_plan import ParityPlan
from harness.plans.workload import workload_of
from harness.runs.journal import remove_leftovers, unfinished
from harness.runs.loaded_verifier import open_lab
from harness.runs.new_report import new_report
from harness.runs.output_lock import hold, release
from reports.records.plan import PlanInfo
from reports.report import Report, write_report


def run_preset(plan: ParityPlan, out: Path, progress: Progress) -> Report:
    """Compare the runtimes on the code prompts of `plan` and leave the report, without claims, at `out`.

    Raises:
        OutputError: `out` exists or cannot be written. ModelError, EngineError: a model is missing, damaged or does
        not fit. CannotRunError: a runtime is not installed, or no recording is of this drafter and these prompts.
    """
    hold(out)
    try:
        _check_free(out, plan)
        return _compare(plan, out, progress)
    finally:
        release(out)


def _compare(plan: ParityPlan, out: Path, progress: Progress) -> Report:
    preset = plan.preset
    progress(0, preset.samples, f"loading {preset.model}")
    verifier, *others = preset.models()
    lab = open_lab(verifier.name, others)
    workload = workload_of(plan, lab.text)
    prompts = workload.prompts(lab.text)
    progress(0, preset.samples, "comparing blocks")
    result = lab.parity(
        preset,
        [prompt.tokens for prompt in prompts],
        lambda done: progress(done, preset.samples, f"{done * preset.blocks} blocks compared"),
    )
    info = PlanInfo(
        samples=preset.samples,
        repeats=1,
        max_new_tokens=preset.blocks * preset.block_size + 1,
        prefill_chunk=preset.prefill_chunk,
        complete=True,
    )
    report = new_report(plan, lab, workload, prompts, info, parity=result)
    try:
        write_report(report, out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); choose another --out") from error
    return report


def _check_free(out: Path, plan: ParityPlan) -> None:
    """Nothing is at `out` but the report of this very run, killed before it was judged; that one is made again."""
    remove_leftovers(out)
    if out.exists():
        found = unfinished(out)
        if found is None or (found.kind, found.preset) != ("parity", plan.preset_info()):
            raise OutputError(f"{out}: exists and is no unfinished run of this preset; choose another --out")
