"""Drafter parity: a port proposes what the reference proposes, before its speed means anything."""

from collections.abc import Iterator

from gate import thresholds
from gate.case import WEIGHTLESS_DRAFTERS, Case, drafts
from gate.registry import claim_rule, evidence_rule
from gate.results import compared, disagreements, parity_shown
from gate.rule import SPEEDUP, Finding
from reports.claims import Claim
from reports.parity import ParityResult


@claim_rule(
    "PARITY_REQUIRED",
    title="A drafter's throughput without its parity",
    catches="Throughput or acceptance of an arm with a drafter, without a passing parity report for the same weights "
    "in the report itself or among the reports judged with it.",
    why="A port that fails parity was shipped with its speed; a drafter that proposes something else is another one.",
    fix="Run `k3 parity` for these weights and judge both reports together.",
    blocks=(*SPEEDUP, "acceptance"),
)
def parity_required(case: Case, claim: Claim) -> Iterator[Finding]:
    """No parity is known for the drafter's weights."""
    arm = case.arms.get(claim.arm)
    if arm is None or not drafts(arm):
        return
    drafter = arm.drafter
    weights = drafter.weights if drafter is not None else None
    if drafter is not None and weights is None and drafter.name in WEIGHTLESS_DRAFTERS and not _has_drafter_model(case):
        return
    if weights is None or weights not in case.parity | parity_shown(case.report):
        name = drafter.name if drafter is not None else "an unknown drafter"
        shown = weights[:23] if weights is not None else "of unknown digest"
        yield Finding(
            f"{arm.name}: no passing parity report is known for {name}, weights {shown}",
            arm=arm.name,
            field="drafter.weights",
            found="none",
            allowed="a parity report for these weights",
        )


def _has_drafter_model(case: Case) -> bool:
    """Provenance lists a drafter's weights that no arm owns up to."""
    models = case.report.provenance.models if case.report.provenance is not None else ()
    owned = {arm.drafter.weights for arm in case.report.arms if arm.drafter is not None}
    return any(model.role == "drafter" and (model.weights is None or model.weights not in owned) for model in models)


@evidence_rule(
    "PARITY_FAILED",
    title="Two runtimes of a drafter that disagree",
    catches="A parity block in which the runtimes propose different tokens, are the same runtime, or were compared on "
    f"fewer than {thresholds.MIN_PARITY_TOKENS} tokens.",
    why="In f32 a disagreement is a fault. In lower precision it may be a tie, and nothing in the file tells which.",
    fix="Compare in float32 on both sides until every token agrees; then the lower precision inherits it.",
    severity="withheld",
    blocks=("drafter_parity", *SPEEDUP, "acceptance"),
)
def parity_failed(case: Case) -> Iterator[Finding]:
    """The parity that the report carries does not hold."""
    parity = case.report.parity
    if parity is None:
        return
    if parity.reference_runtime == parity.candidate_runtime:
        message = f"parity: {parity.candidate_runtime} was compared with itself"
        yield Finding(message, field="parity.candidate_runtime", found=parity.candidate_runtime, allowed="another")
    wrong = [block for block in parity.blocks if disagreements(block)]
    distinct = {(block.sample, block.block): block for block in parity.blocks}
    tokens = sum(compared(block) for block in distinct.values())
    if wrong:
        missed, total = sum(map(disagreements, wrong)), sum(map(compared, parity.blocks))
        yield Finding(
            f"parity: {missed} of {total} tokens differ between {_side(parity, 'reference')} and "
            f"{_side(parity, 'candidate')} (first: sample {wrong[0].sample}, block {wrong[0].block})",
            sample=wrong[0].sample,
            field="parity.blocks",
            found=f"{missed} of {total} tokens",
            allowed="0",
        )
    elif tokens < thresholds.MIN_PARITY_TOKENS:
        yield Finding(
            f"parity: {tokens} tokens of {len(distinct)} distinct blocks were compared",
            field="parity.blocks",
            found=str(tokens),
            allowed=f"at least {thresholds.MIN_PARITY_TOKENS}",
        )


def _side(parity: ParityResult, side: str) -> str:
    runtime, dtype = getattr(parity, f"{side}_runtime"), getattr(parity, f"{side}_dtype")
    return f"{runtime} ({dtype or 'dtype not recorded'})"
