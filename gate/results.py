"""Claims of reports whose rows are not arms: drafter parity, and codecs of the K/V cache."""

from collections.abc import Iterator
from dataclasses import dataclass

from gate.case import Case
from reports.claims import BaseClaim, Claim, KvQuantClaim, ParityClaim
from reports.kvquant import CodecArm

AFFINE_4 = "affine4"


@dataclass(frozen=True)
class CodecFigures:
    """A codec over all its samples: bits a value as stored, mean relative error, recall."""

    bits: float
    error: float
    recall: float


def agreement(case: Case) -> float | None:
    """Equal tokens over compared tokens of a parity report; a length mismatch counts as disagreement."""
    parity = case.report.parity
    if parity is None:
        return None
    total = sum(max(len(b.reference_tokens), len(b.candidate_tokens)) for b in parity.blocks)
    equal = sum(
        ours == theirs
        for block in parity.blocks
        for ours, theirs in zip(block.reference_tokens, block.candidate_tokens, strict=False)
    )
    return equal / total if total else None


def codec_figures(arm: CodecArm) -> CodecFigures | None:
    """Bits, error and recall of a codec from its samples; none if a sample lacks one of them."""
    bits, errors, right = [], [], []
    for row in arm.samples:
        if row.stored_bytes is None or not row.values or row.correct is None:
            return None
        error = row.relative_error
        if error is None and row.relative_error_k is not None and row.relative_error_v is not None:
            error = (row.relative_error_k + row.relative_error_v) / 2
        if error is None:
            return None
        bits.append(8 * row.stored_bytes / row.values)
        errors.append(error)
        right.append(row.correct)
    if not bits:
        return None
    return CodecFigures(sum(bits) / len(bits), sum(errors) / len(errors), sum(right) / len(right))


def worthwhile(case: Case, name: str) -> bool | None:
    """A codec is worth a native kernel only if, at no more bits than affine 4, it errs less and recalls no less."""
    result = case.report.kv_quant
    arms = {arm.name: arm for arm in result.arms} if result is not None else {}
    if name not in arms or AFFINE_4 not in arms:
        return None
    ours, reference = codec_figures(arms[name]), codec_figures(arms[AFFINE_4])
    if ours is None or reference is None:
        return None
    return ours.bits <= reference.bits and ours.error < reference.error and ours.recall >= reference.recall


def value_of(case: Case, claim: BaseClaim) -> float | None:
    """The value of a parity or codec claim from the report's rows."""
    if isinstance(claim, ParityClaim):
        return agreement(case)
    if isinstance(claim, KvQuantClaim):
        verdict = worthwhile(case, claim.arm)
        return float(verdict) if verdict is not None else None
    return None


def candidates(case: Case) -> Iterator[Claim]:
    """The parity claim of a parity report, and a verdict a codec of a quantisation report."""
    parity = case.report.parity
    if parity is not None:
        name = parity.candidate_runtime
        yield ParityClaim(
            name=f"drafter_parity/{name}", metric="drafter_parity", value=0.0, arm=name, status="withheld"
        )
    for arm in case.report.kv_quant.arms if case.report.kv_quant is not None else ():
        if arm.name not in ("identity", AFFINE_4):
            yield KvQuantClaim(
                name=f"kv_codec_worthwhile/{arm.name}",
                metric="kv_codec_worthwhile",
                value=0.0,
                arm=arm.name,
                status="withheld",
                samples=len(arm.samples),
            )
