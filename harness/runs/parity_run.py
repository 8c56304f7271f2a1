"""run_preset(plan) -> Report: two runtimes of one drafter, asked for the same blocks after the same prompts.

Nothing is kept of a run that did not come to its end: it takes minutes, and a part of it shows nothing.
"""

from pathlib import Path

from harness.base.progress import Progress
from harness.plans.parity_plan import ParityPlan
from harness.plans.workload import ask, workload_of
from harness.runs.journal import refuse_taken
from harness.runs.loaded.loading import load_models
from harness.runs.new_report import new_report
from reports.records.plan import PlanInfo
from reports.report import Report
from reports.untrusted.number_of import number_of


def run_preset(plan: ParityPlan, out: Path, progress: Progress) -> Report:
    """Compare the runtimes on the code prompts of `plan`: the report, without claims, that is to be at `out`.

    Raises:
        OutputError: something is at `out`. ModelError, EngineError: a model is missing, damaged or does
        not fit. CannotRunError: a runtime is not installed, or no recording is of this drafter and these prompts.
    """
    refuse_taken(out)
    preset = plan.preset
    progress(0, preset.samples, f"loading {preset.model}")
    verifier, *others = preset.models()
    loaded = load_models(verifier.name, others)
    workload = workload_of(plan, loaded.text)
    prompts = ask(workload, loaded.text, preset)
    progress(0, preset.samples, "comparing blocks")
    result = loaded.parity(
        preset,
        [prompt.tokens for prompt in prompts],
        lambda done: progress(done, preset.samples, f"{number_of(done * preset.blocks, 'block')} compared"),
    )
    info = PlanInfo(
        samples=preset.samples,
        repeats=1,
        max_new_tokens=preset.blocks * preset.block_size + 1,
        prefill_chunk=preset.prefill_chunk,
        complete=True,
    )
    return new_report(plan, loaded, workload, prompts, info, parity=result)
