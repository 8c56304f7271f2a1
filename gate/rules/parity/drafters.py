"""Drafter parity: a port proposes what the reference proposes, before its speed means anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView, drafter_of, drafts
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import MAX_LOGIT_GAP, MIN_ARGMAX_AGREEMENT, MIN_FAITHFULNESS_TOKENS, MIN_PARITY_TOKENS
from gate.rules.parity.shown_parity import PARITY_REQUIRED, parity_faults, parity_key, parity_shown

if TYPE_CHECKING:
    from reports.drafters import DrafterKind
    from reports.records.claims import Claim
    from reports.records.drafter_parity import ParityResult
    from reports.records.measurement import Arm, DrafterInfo


@claim_rule(
    PARITY_REQUIRED,
    title="A drafter's throughput without its parity",
    catches="Throughput or acceptance of an arm with a drafter, without a passing parity report for the same weights "
    "and runtime in the report itself or among the reports judged with it.",
    why="A port that fails parity was shipped with its speed; a drafter that proposes something else is another one.",
    fix="Run the preset again with `--set 'beside=[\"parity-tiny-recorded\"]'` (SmolLM2's drafter: "
    "`parity-smollm2-recorded`), which needs no PyTorch. Of a drafter of your own run `k3 parity --model NAME "
    "--drafter NAME` into the same folder, then `k3 gate conclude` this report.",
    blocks=(*RATIOS, "acceptance"),
    example=Example(bad="1.6x with drafter weights that no parity report names", good="a parity report of the weights"),
    thresholds=(MIN_FAITHFULNESS_TOKENS, MIN_ARGMAX_AGREEMENT, MAX_LOGIT_GAP, MIN_PARITY_TOKENS),
)
def parity_required(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """No parity is known for the weights of an arm's drafter."""
    for name in (claim.arm, claim.baseline):
        arm = view.arms.get(name or "")
        if arm is not None and drafts(arm):
            yield from _without_parity(view, arm)


def _without_parity(view: ReportView, arm: Arm) -> Iterator[Finding]:
    drafter, kind = arm.drafter, drafter_of(arm)
    if drafter is not None and kind is not None and not kind.port and _is_as_said(view, drafter, kind):
        return
    weights = drafter.weights if drafter is not None else None
    runtime = drafter.runtime if drafter is not None else None
    known = view.parity | parity_shown(view.report)
    if weights is None or runtime is None or parity_key(weights, runtime) not in known:
        name = drafter.name if drafter is not None else "an unknown drafter"
        digest = weights[:23] if weights is not None else "of unknown digest"
        yield Finding(
            f"{arm.name}: no passing parity report is known for {name}, weights {digest}, in {runtime or 'no runtime'}",
            arm=arm.name,
            field="drafter.weights",
            found="none",
            allowed="a parity report for these weights and this runtime",
        )


def _is_as_said(view: ReportView, drafter: DrafterInfo, kind: DrafterKind) -> bool:
    """A drafter that is no port: a small model that is faithful, or one without weights where no model could draft."""
    return _is_faithful(view, drafter) if kind.weights else drafter.weights is None and not _has_drafter_model(view)


def _is_faithful(view: ReportView, drafter: DrafterInfo) -> bool:
    """A small model that drafts is no port: it is held to its reference implementation as the verifier is."""
    models = view.report.provenance.models if view.report.provenance is not None else ()
    checks = [model.faithfulness for model in models if model.role == "drafter" and model.weights == drafter.weights]
    return drafter.weights is not None and any(
        check is not None
        and check.tokens >= MIN_FAITHFULNESS_TOKENS.value
        and check.argmax_agreement >= MIN_ARGMAX_AGREEMENT.value
        and 0 <= check.largest_logit_gap <= MAX_LOGIT_GAP.value
        for check in checks
    )


def _has_drafter_model(view: ReportView) -> bool:
    """Provenance lists a drafter's weights that no arm owns up to."""
    models = view.report.provenance.models if view.report.provenance is not None else ()
    owned = {arm.drafter.weights for arm in view.report.arms if arm.drafter is not None}
    return any(model.role == "drafter" and (model.weights is None or model.weights not in owned) for model in models)


@evidence_rule(
    "PARITY_FAILED",
    title="Two runtimes of a drafter that disagree",
    catches="The two runtimes propose different tokens. Or the comparison is none: a runtime beside itself, blocks or "
    f"tokens that are missing, or fewer than {MIN_PARITY_TOKENS.value} tokens of distinct blocks. Or the reference is "
    "not what it is said to be: a recording that K3 does not ship, or blocks that are not in it; or a runtime that was "
    "not installed, or that the run was not told to use.",
    why="In float32 a disagreement is a fault. In lower precision it may be a tie, and nothing in the file tells "
    "which. A recording stands for the reference only where everybody can look it up.",
    fix="Compare in float32 on both sides until every token agrees. The same weights in lower precision then need no "
    "comparison of their own.",
    severity="withheld",
    blocks=("drafter_parity", *RATIOS, "acceptance"),
    example=Example(bad="float32 against float32, 412 of 420 tokens agree", good="420 of 420 tokens agree"),
    thresholds=(MIN_PARITY_TOKENS,),
)
def parity_failed(view: ReportView) -> Iterator[Finding]:
    """The parity that the report carries does not hold."""
    parity = view.report.parity
    if parity is None:
        return
    sides = f"{_side(parity, 'reference')} and {_side(parity, 'candidate')}"
    claim = f"drafter_parity/{parity.candidate_runtime}"
    drafting = [arm.name for arm in view.under_test if _drafts_with(arm, parity)]
    for field, message, found, allowed in parity_faults(view.report):
        message = f"parity of {sides}: {message}"
        yield Finding(message, field=field, found=found, allowed=allowed, claim=claim)
        for name in drafting:
            yield Finding(message, name, field=field, found=found, allowed=allowed)


def _drafts_with(arm: Arm, parity: ParityResult) -> bool:
    """The arm's drafter is the one that was compared; that of another arm is not touched by it."""
    return arm.drafter is not None and arm.drafter.weights is not None and arm.drafter.weights == parity.drafter_weights


def _side(parity: ParityResult, side: str) -> str:
    runtime, dtype = getattr(parity, f"{side}_runtime"), getattr(parity, f"{side}_dtype")
    recorded = ", recorded" if side == "reference" and parity.recording is not None else ""
    return f"{runtime} ({dtype or 'dtype not recorded'}{recorded})"
