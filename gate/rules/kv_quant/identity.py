"""The identity codec, which must change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.codecs import IDENTITY, codec_arm, codec_figures
from gate.figures.rates import mean_of
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding
from gate.rulebook.thresholds import ORACLE_RECALL_FLOOR, Threshold
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.codec_rows import CodecArm, KvQuantResult

MAX_IDENTITY_KL = Threshold(
    "MAX_IDENTITY_KL",
    1e-5,
    "nats",
    meaning="By which logits may differ after K/V were stored unchanged.",
    source="rounding of a batch of rows beside a single one",
)


@evidence_rule(
    "KVQUANT_CONTROL",
    title="An identity codec that is not clean",
    catches="A codec report without an identity arm, or one that errs, moves a logit, recalls less than the oracle, or "
    "whose streams are not known to equal the oracle's, for the first question and for the second; or an oracle that "
    "cannot do the task itself, the first question or the second.",
    why="If storing K/V unchanged changes anything, the harness does, and every codec is measured with that fault.",
    fix="Run the identity codec through the same path; its error is 0 and its tokens are the oracle's.",
    severity="withheld",
    blocks=KV_CODEC,
    example=Example(bad="the identity codec loses a stream", good="the identity codec changes nothing"),
    thresholds=(ORACLE_RECALL_FLOOR, MAX_IDENTITY_KL),
)
def kvquant_control(view: ReportView) -> Iterator[Finding]:
    """The identity arm is missing or not clean."""
    result = view.report.kv_quant
    if result is None:
        return
    arm = codec_arm(result, IDENTITY)
    if arm is None:
        message = "kv_quant: no identity arm; what the harness itself costs is not known"
        yield Finding(message, field="kv_quant.arms", found="none", allowed=IDENTITY)
        return
    figures = codec_figures(arm)
    asked = sorted(sample for which, sample in view.prompts if which == "main")
    measured = sorted(row.sample for row in arm.samples)
    if asked and measured != asked:
        some = f"{number_of(len(measured), 'sample')} of {number_of(len(asked), 'prompt')}"
        message = f"{arm.name}: {some}; a codec is measured on all of them"
        yield Finding(message, arm.name, field="kv_quant.samples", found=str(len(measured)), allowed=str(len(asked)))
    if figures.error is None or figures.error > 0:
        shown = "unknown" if figures.error is None else f"{figures.error:.3g}"
        yield Finding(f"{arm.name}: relative error {shown}", arm.name, field="relative_error", found=shown, allowed="0")
    unequal = [row for row in arm.samples if row.token_ids_equal_oracle is not True]
    if unequal or not arm.samples:
        yield Finding(
            f"{arm.name}: the oracle's stream in {len(arm.samples) - len(unequal)} of {len(arm.samples)} samples",
            arm=arm.name,
            sample=unequal[0].sample if unequal else None,
            field="token_ids_equal_oracle",
            found=str(len(arm.samples) - len(unequal)),
            allowed=f"all {len(arm.samples)}",
        )
    yield from _changed(arm)
    yield from _oracle_fails(result)
    if figures.recall is None or result.oracle_recall is None or figures.recall != result.oracle_recall:
        yield Finding(
            f"{arm.name}: recalls {figures.recall}, the oracle {result.oracle_recall}",
            arm=arm.name,
            field="correct",
            found=str(figures.recall),
            allowed=str(result.oracle_recall),
        )


def _oracle_fails(result: KvQuantResult) -> Iterator[Finding]:
    """A question that the oracle itself does not answer: no codec can fail it."""
    second = mean_of(row.second.correct for row in result.oracle)
    recalls = (("", "oracle_recall", result.oracle_recall), (" of the second question", "second.correct", second))
    for which, field, recall in recalls:
        if recall is not None and recall < ORACLE_RECALL_FLOOR.value:
            found, floor = f"{recall:.3g}", f"at least {ORACLE_RECALL_FLOOR.value:g}"
            message = f"the oracle's recall{which} is {found}; {floor} is needed, or no codec can fail it"
            yield Finding(message, field=field, found=found, allowed=floor)


def _changed(arm: CodecArm) -> Iterator[Finding]:
    """Logits or answers that are other ones after storing K/V unchanged."""
    for row in arm.samples:
        held_out, second = row.held_out, row.second
        if held_out is not None and (held_out.top1_flips or held_out.kl_divergence > MAX_IDENTITY_KL.value):
            found = f"{held_out.kl_divergence:.3g} nats, {held_out.top1_flips} flips"
            message = f"{arm.name}, sample {row.sample}: held-out logits differ by {found}"
            yield Finding(message, arm.name, row.sample, "held_out", found, f"{MAX_IDENTITY_KL.value:g} nats")
        if second is not None and second.token_ids_equal_oracle is not True:
            message = f"{arm.name}, sample {row.sample}: another answer to the second question than the oracle's"
            yield Finding(message, arm.name, row.sample, "second.token_ids_equal_oracle", "false", "true")
