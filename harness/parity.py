"""run_preset(plan) -> Report: two runtimes of one drafter, asked for the same blocks after the same prompts.

Nothing is kept of a run that did not come to its end: it takes minutes, and a part of it shows nothing.
"""

from dataclasses import dataclass
from pathlib import Path

from harness.errors import OutputError, UsageError
from harness.journal import remove_leftovers, unfinished
from harness.lab import open_lab
from harness.new_report import new_report
from harness.outline import PlannedArm
from harness.output_lock import hold, release
from harness.plan import Plan
from harness.preset import LoadedPreset, ParityPreset
from harness.progress import Progress
from reports.plan import PlanInfo
from reports.report import Report, write_report
from workloads.code import Code


@dataclass(frozen=True)
class ParityPlan(Plan):
    """A checked parity preset."""

    @property
    def preset(self) -> ParityPreset:
        """The preset after overrides."""
        assert isinstance(self.loaded.preset, ParityPreset)
        return self.loaded.preset

    def planned(self) -> tuple[PlannedArm, ...]:
        """Both sides; they run together, once a prompt."""
        preset = self.preset
        each = f"{preset.drafter}, {preset.blocks} blocks of {preset.block_size} after each prompt"
        return tuple(
            PlannedArm(role, role, side.kind, f"{preset.samples} main", 1, preset.samples, f"{each}, {side.dtype}")
            for role, side in (("candidate", preset.candidate), ("reference", preset.reference))
        )


def plan_parity(loaded: LoadedPreset) -> ParityPlan:
    """Check a parity preset as a whole.

    Raises:
        UsageError: both sides are the same runtime, whose agreement shows nothing, or the candidate is a recording.
    """
    plan = ParityPlan(loaded)
    preset = plan.preset
    if preset.candidate.kind == "recorded":
        raise UsageError(f"preset {preset.name}: candidate: a recording drafts nothing; only a reference is recorded")
    if preset.reference.kind == preset.candidate.kind:
        raise UsageError(f"preset {preset.name}: reference and candidate are both {preset.candidate.kind}; use two")
    return plan


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
    workload = Code(items=preset.workload.items, samples=preset.samples, seed=preset.seed)
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
