"""Verdicts on codecs, against those that their arms give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.codecs import AFFINE_4, codec_arm, codec_comparison
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding
from gate.rulebook.thresholds import LEVEL, MIN_CODEC_PROMPTS
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.claims import Claim


@evidence_rule(
    "KVQUANT_VERDICT",
    title="A printed verdict that does not follow",
    catches="A printed verdict on a codec other than the one its arms give: worth a kernel only if, at no more bits "
    "than affine 4, it is shown to err less over the prompts (Student's t on the log of the ratio, Holm over all "
    "codecs) and loses no answers on balance.",
    why="A smaller error at more bits is no improvement; affine with those bits errs less still.",
    fix="Print the verdict that the three comparisons give, and the figures beside it.",
    blocks=KV_CODEC,
    example=Example(
        bad="worthwhile, though affine 4 errs less at as many bits",
        good="worthwhile: fewer bits, less error, no less recall",
    ),
    thresholds=(LEVEL, MIN_CODEC_PROMPTS),
)
def kvquant_verdict(view: ReportView) -> Iterator[Finding]:
    """A stated verdict is not the derived one."""
    result = view.report.kv_quant
    for verdict in result.verdicts if result is not None else ():
        found = codec_comparison(view, verdict.arm)
        derived = found.verdict if found is not None else None
        if derived is None or (derived == "better") is not verdict.worthwhile:
            stated, allowed = str(verdict.worthwhile).lower(), "nothing" if derived is None else derived
            yield Finding(
                f"{verdict.arm}: worthwhile is stated as {stated}, the arms give {allowed}",
                arm=verdict.arm,
                field="kv_quant.verdicts",
                found=stated,
                allowed=allowed,
                severity="withheld" if derived in (None, "undecided") else None,
            )


@claim_rule(
    "KVQUANT_SAMPLES",
    title="A verdict on a codec from too few prompts",
    catches=f"A verdict on a codec that was not compared with affine 4 on {MIN_CODEC_PROMPTS.value} prompts or more.",
    why="Of fifteen equal codecs one is always best: 360 of 400 simulated reports called one worth a kernel.",
    fix=f"Measure on {MIN_CODEC_PROMPTS.value} prompts or more (`--samples`).",
    blocks=KV_CODEC,
    example=Example(bad="a codec that errs less on one prompt", good="one that errs less over 10 prompts"),
    thresholds=(MIN_CODEC_PROMPTS,),
    since=4,
)
def kvquant_samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Too few prompts are paired."""
    arm, reference = (codec_arm(view.report.kv_quant, name) for name in (claim.arm, AFFINE_4))
    if arm is None or reference is None:
        return
    paired = len({row.sample for row in arm.samples} & {row.sample for row in reference.samples})
    if paired < MIN_CODEC_PROMPTS.value:
        yield Finding(
            f"{arm.name}: compared with {reference.name} on {number_of(paired, 'prompt')}; a verdict needs "
            f"{MIN_CODEC_PROMPTS.value}",
            arm=arm.name,
            field="kv_quant.samples",
            found=str(paired),
            allowed=f"at least {MIN_CODEC_PROMPTS.value}",
        )
