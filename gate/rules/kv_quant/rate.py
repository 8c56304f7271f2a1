"""Bits a value, counted from the arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.codecs import AFFINE_4, IDENTITY, codec_arm, codec_figures
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding
from gate.rulebook.thresholds import STATED_TOLERANCE, Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.codec_rows import CodecArm

_RATED = r"(?i)(?:affine[-_ ]?|d4-|e8-)(\d{1,2})(?!\d)"

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
    blocks=KV_CODEC,
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
    named = [re.search(_RATED, side) or (re.search(_RATED, arm.name) if side == arm.codec else None) for side in sides]
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


LEAST_DISTORTION = Threshold(
    "LEAST_DISTORTION",
    0.5,
    "4^-bits of the energy",
    meaning="Error of a layer, over its energy, that codes of so many bits leave at least.",
    source="1 is the rate-distortion bound of a Gaussian source; K3's codecs leave 1.4 and more",
)


@evidence_rule(
    "KVQUANT_DISTORTION",
    title="A codec that errs less than its bits allow",
    catches=f"A layer in which a codec of so many bits a code errs by less than {LEAST_DISTORTION.value:g} times "
    "4^-bits of the energy, K or V.",
    why="A bit more leaves a quarter of the error, and no codec of the same bits makes a tenth of it: an error that "
    "small was divided by hand.",
    fix="Let `k3 kvquant` write the rows; do not edit them.",
    severity="withheld",
    blocks=KV_CODEC,
    example=Example(bad="4 bits a code, an error of 0.0001", good="4 bits a code, an error of 0.007"),
    thresholds=(LEAST_DISTORTION,),
    since=8,
)
def kvquant_distortion(view: ReportView) -> Iterator[Finding]:
    """A layer's error is below what the bits of the code allow."""
    result = view.report.kv_quant
    for arm in result.arms if result is not None and not view.imported else ():
        named = [re.search(_RATED, side) for side in (arm.codec_k or arm.codec, arm.codec_v or arm.codec)]
        least = [LEAST_DISTORTION.value / 4 ** int(rated[1]) if rated is not None else 0.0 for rated in named]
        layers = frozenset(arm.layers) if arm.layers is not None else None
        low = (
            (row.sample, layer)
            for row in arm.samples
            for layer in row.layers
            if (layer.k < least[0] or layer.v < least[1]) and (layers is None or layer.layer in layers)
        )
        first = next(low, None)
        if first is not None:
            sample, layer = first
            side, found, allowed = ("K", layer.k, least[0]) if layer.k < least[0] else ("V", layer.v, least[1])
            message = f"{arm.name}, sample {sample}, layer {layer.layer}: {side} errs by {found:.3g}"
            yield Finding(
                f"{message} of its energy; codes of so many bits leave {allowed:.3g} at least",
                arm=arm.name,
                sample=sample,
                field="layers",
                found=f"{found:.3g}",
                allowed=f"at least {allowed:.3g}",
            )
