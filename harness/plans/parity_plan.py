"""A parity preset that was checked: two runtimes of one drafter, one of them under test."""

from dataclasses import dataclass

from harness.base.errors import UsageError
from harness.plans.plan import Plan, PlannedArm
from harness.plans.preset import LoadedPreset, ParityPreset
from reports.drafters import DRAFTERS, RECORDED


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
        UsageError: both sides are the same runtime, whose agreement shows nothing, or of two drafters, or the candidate
            is a recording.
    """
    plan = ParityPlan(loaded)
    preset = plan.preset
    if preset.candidate.kind == RECORDED:
        raise UsageError(f"preset {preset.name}: candidate: a recording drafts nothing; only a reference is recorded")
    if preset.reference.kind == preset.candidate.kind:
        raise UsageError(f"preset {preset.name}: reference and candidate are both {preset.candidate.kind}; use two")
    names = {
        side.kind: DRAFTERS[side.kind].name for side in (preset.candidate, preset.reference) if side.kind in DRAFTERS
    }
    if len(set(names.values())) > 1:
        shown = " and ".join(f"{kind} of {name}" for kind, name in names.items())
        raise UsageError(f"preset {preset.name}: reference and candidate are runtimes of two drafters: {shown}")
    return plan
