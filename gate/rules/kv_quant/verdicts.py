"""Codecs of the K/V cache: a clean identity arm, bits counted from arrays, verdicts that follow from the arms."""

import math
import re
from collections.abc import Iterator

from gate.figures.codecs import AFFINE_4, IDENTITY, codec_arm, codec_figures, worthwhile
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import ORACLE_RECALL_FLOOR, STATED_TOLERANCE, Threshold
from reports.records.claims import Claim
from reports.records.codec_rows import CodecArm

BLOCKS = ("kv_codec_worthwhile",)
_RATED = re.compile(r"(?:affine[-_ ]?|d4-|e8-)(\d{1,2})(?!\d)", re.IGNORECASE)


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
    "cannot do the task itself.",
    why="If storing K/V unchanged changes anything, the harness does, and every codec is measured with that fault.",
    fix="Run the identity codec through the same path; its error is 0 and its tokens are the oracle's.",
    severity="withheld",
    blocks=BLOCKS,
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
        message = f"{arm.name}: {len(measured)} samples of {len(asked)} prompts; a codec is measured on all of them"
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
    if result.oracle_recall is not None and result.oracle_recall < ORACLE_RECALL_FLOOR.value:
        found, floor = f"{result.oracle_recall:.3g}", f"at least {ORACLE_RECALL_FLOOR.value:g}"
        yield Finding(
            f"the oracle recalls {found}; {floor} is needed", field="oracle_recall", found=found, allowed=floor
        )
    if figures.recall is None or result.oracle_recall is None or figures.recall != result.oracle_recall:
        yield Finding(
            f"{arm.name}: recalls {figures.recall}, the oracle {result.oracle_recall}",
            arm=arm.name,
            field="correct",
            found=str(figures.recall),
            allowed=str(result.oracle_recall),
        )


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


CODEC_BITS_SPREAD = Threshold(
    "CODEC_BITS_SPREAD",
    0.1,
    "relative distance",
    meaning="Between a codec's bits a value on its samples.",
    source="short prompts are padded to whole groups",
)

MIN_SCALE_BITS = Threshold(
    "MIN_SCALE_BITS",
    0.1,
    "bits a value",
    meaning="What scales add to an affine codec at least.",
    source="float16 scales of groups of 128, no bias: 0.125",
)

MAX_SCALE_BITS = Threshold(
    "MAX_SCALE_BITS",
    2.0,
    "bits a value",
    meaning="What scales and biases add to an affine codec at most.",
    source="float32, both, for groups of 32",
)


@claim_rule(
    "KVQUANT_RATE",
    title="Bits a value that leave something out",
    catches="A codec, or the affine 4 it is compared with, whose bits a value are only stated, are not those of the "
    "stored bytes, differ from sample to sample, leave no room for scales or too much, or are of other numbers.",
    why="4 bits a value are 4.5 with scales and biases; a lattice at 6.3 looks small beside a 4 that is none.",
    fix="Count codes, scales, biases and padding from the arrays (`stored_bytes`), and the numbers they stand for.",
    blocks=BLOCKS,
    example=Example(bad="4.0 bits stated, 4.5 with scales and biases", good="4.5 bits stated, 4.5 from the arrays"),
    thresholds=(STATED_TOLERANCE, CODEC_BITS_SPREAD, MIN_SCALE_BITS, MAX_SCALE_BITS),
)
def kvquant_rate(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Bits of the codec or of its reference are not counted from what is stored."""
    arm, reference = codec_arm(view.report.kv_quant, claim.arm), codec_arm(view.report.kv_quant, AFFINE_4)
    identity = codec_arm(view.report.kv_quant, IDENTITY)
    for one in (arm, reference):
        if one is not None:
            yield from _rate(one, _bits_of_name(one, identity))
    for ours, theirs in ((arm, reference), (reference, identity)):
        if ours is not None and theirs is not None:
            yield from _unlike(ours, theirs)


def _unlike(arm: CodecArm, reference: CodecArm) -> Iterator[Finding]:
    """Both codecs stand for the same numbers of the same prompts."""
    ours, theirs = ({row.sample: row.values for row in one.samples} for one in (arm, reference))
    if ours != theirs:
        sample = min(number for number in ours.keys() | theirs.keys() if ours.get(number) != theirs.get(number))
        found, allowed = (str(values.get(sample, "no sample")) for values in (ours, theirs))
        yield Finding(
            f"{arm.name}, sample {sample}: stands for {found} values, {reference.name} for {allowed}; both quantise "
            "the same K/V",
            arm=arm.name,
            sample=sample,
            field="values",
            found=found,
            allowed=allowed,
        )


def _rate(arm: CodecArm, allowed_bits: tuple[float, float]) -> Iterator[Finding]:
    bits = [8 * row.stored_bytes / row.values for row in arm.samples if row.stored_bytes is not None and row.values]
    if not bits or len(bits) < len(arm.samples):
        yield Finding(
            f"{arm.name}: stored bytes and values are recorded in {len(bits)} of {len(arm.samples)} samples"
            + (f"; {arm.stated_bits:g} bits a value are stated" if arm.stated_bits is not None else ""),
            arm=arm.name,
            field="stored_bytes",
            found=str(len(bits)),
            allowed="every sample",
        )
        return
    mean, (least, most) = sum(bits) / len(bits), allowed_bits
    if arm.stated_bits is not None and abs(arm.stated_bits - mean) > STATED_TOLERANCE.value * mean:
        message = f"{arm.name}: {arm.stated_bits:g} bits a value are stated, the stored bytes give {mean:.4g}"
        yield Finding(message, arm.name, field="stated_bits", found=f"{arm.stated_bits:g}", allowed=f"{mean:.4g}")
    if max(bits) > (1 + CODEC_BITS_SPREAD.value) * min(bits):
        message = f"{arm.name}: {min(bits):.4g} to {max(bits):.4g} bits a value; a codec's rate is one"
        yield Finding(message, arm.name, field="stored_bytes", found=f"{max(bits):.4g}", allowed=f"{min(bits):.4g}")
    if not least <= min(bits) <= max(bits) <= most:
        found = min(bits) if min(bits) < least else max(bits)
        allowed = f"{least:.4g} to {most:.4g}" if most < math.inf else f"at least {least:.4g}"
        message = f"{arm.name}: {found:.4g} bits a value; codes and scales of {arm.codec} take {allowed}"
        yield Finding(message, arm.name, field="stored_bytes", found=f"{found:.4g}", allowed=allowed)


def _bits_of_name(arm: CodecArm, identity: CodecArm | None) -> tuple[float, float]:
    """Bits between which a codec of this name lies, scales and biases included; any where the name tells nothing.

    K and V may have codecs of their own. Layers that are left out are stored as the identity codec stores them.
    """
    sides = (arm.codec_k or arm.codec, arm.codec_v or arm.codec)
    named = [_RATED.search(side) or (_RATED.search(arm.name) if side == arm.codec else None) for side in sides]
    exact = codec_figures(identity).bits if identity is not None else None
    every = len(identity.layers) if identity is not None and identity.layers else None
    share = len(arm.layers) / every if arm.layers is not None and every else 1.0
    if share < 1 and exact is None:
        return 0.0, math.inf
    least, most = 0.0, 0.0
    for side, rated in zip(sides, named, strict=True):
        if rated is None and side != IDENTITY:
            return 0.0, math.inf
        code = int(rated[1]) if rated is not None else exact
        if code is None:
            return 0.0, math.inf
        least += (code + (MIN_SCALE_BITS.value if rated is not None else 0.0)) / 2
        most += (code + (MAX_SCALE_BITS.value if rated is not None else 0.0)) / 2
    kept = (1 - share) * (exact or 0.0)
    return least * share + kept, most * share + kept


@evidence_rule(
    "KVQUANT_VERDICT",
    title="A printed verdict that does not follow",
    catches="A verdict on a codec other than the one its arms give: worth a kernel only if, at no more bits than "
    "affine 4, it errs less and recalls no less, over both questions.",
    why="A smaller error at more bits is no improvement; affine with those bits errs less still.",
    fix="Print the verdict that the three comparisons give, and the figures beside it.",
    blocks=BLOCKS,
    example=Example(
        bad="worthwhile, though affine 4 errs less at as many bits",
        good="worthwhile: fewer bits, less error, no less recall",
    ),
)
def kvquant_verdict(view: ReportView) -> Iterator[Finding]:
    """A stated verdict is not the derived one."""
    result = view.report.kv_quant
    for verdict in result.verdicts if result is not None else ():
        derived = worthwhile(view, verdict.arm)
        if derived is not verdict.worthwhile:
            found, allowed = str(verdict.worthwhile).lower(), "nothing" if derived is None else str(derived).lower()
            yield Finding(
                f"{verdict.arm}: worthwhile is stated as {found}, the arms give {allowed}",
                arm=verdict.arm,
                field="kv_quant.verdicts",
                found=found,
                allowed=allowed,
                severity="withheld" if derived is None else None,
            )
