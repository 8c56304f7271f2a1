"""Claims of reports whose rows are not arms: drafter parity, and codecs of the K/V cache."""

from collections.abc import Iterator
from dataclasses import dataclass

from gate.figures.recording_match import recording_faults
from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import MIN_PARITY_TOKENS
from reports.records.claims import BaseClaim, Claim, KvQuantClaim, ParityClaim
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult
from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.report import Report

AFFINE_4 = "affine4"
IDENTITY = "identity"


@dataclass(frozen=True)
class CodecFigures:
    """A codec over its samples, each figure none where nothing gives it.

    `recall` is of the first question; `answered` of both, the second asked after the K/V were saved and loaded.
    """

    bits: float | None
    error: float | None
    recall: float | None
    answered: float | None


def compared(block: ParityBlock) -> int:
    """Positions compared in a block; where one runtime proposed fewer tokens, the missing ones disagree."""
    return max(len(block.reference_tokens), len(block.candidate_tokens))


def disagreements(block: ParityBlock) -> int:
    """Positions of a block at which the two runtimes propose different tokens, or one proposes none."""
    pairs = zip(block.reference_tokens, block.candidate_tokens, strict=False)
    return compared(block) - sum(ours == theirs for ours, theirs in pairs)


def agreement(parity: ParityResult | None) -> float | None:
    """Equal tokens over compared tokens."""
    total = sum(map(compared, parity.blocks)) if parity is not None else 0
    if parity is None or total == 0:
        return None
    return (total - sum(map(disagreements, parity.blocks))) / total


def parity_faults(report: Report) -> Iterator[tuple[str, str, str]]:
    """Why the report's blocks do not show parity: what is wrong, the figure found and the one allowed."""
    parity = report.parity
    if parity is None:
        return
    if parity.reference_runtime == parity.candidate_runtime:
        runtime = parity.candidate_runtime
        yield f"{runtime} was compared with itself", runtime, "another runtime"
    yield from recording_faults(report)
    unknown = [block for block in parity.blocks if not block.reference_tokens]
    if unknown:
        first = f"first: sample {unknown[0].sample}, block {unknown[0].block}"
        message = f"the reference has no proposal for {len(unknown)} of {len(parity.blocks)} blocks ({first})"
        yield message, str(len(unknown)), "0"
    wrong = [block for block in parity.blocks if block.reference_tokens and disagreements(block)]
    if wrong:
        missed, total = sum(map(disagreements, wrong)), sum(map(compared, parity.blocks))
        message = f"{missed} of {total} tokens differ (first: sample {wrong[0].sample}, block {wrong[0].block})"
        yield message, f"{missed} of {total} tokens", "0"
    yield from _gaps(report, parity)
    tokens = sum(len(ids) for ids in {block.reference_tokens for block in parity.blocks})
    if tokens < MIN_PARITY_TOKENS.value:
        message = f"{tokens} tokens of distinct blocks were compared; more samples or blocks are needed"
        yield message, str(tokens), f"at least {MIN_PARITY_TOKENS.value}"


def _gaps(report: Report, parity: ParityResult) -> Iterator[tuple[str, str, str]]:
    """Blocks or tokens that were compared and are not there: whole blocks, numbered from 0, as many in every sample."""
    blocks: dict[int, list[ParityBlock]] = {}
    for block in parity.blocks:
        blocks.setdefault(block.sample, []).append(block)
    most = max((len(of_sample) for of_sample in blocks.values()), default=0)
    for sample, of_sample in sorted(blocks.items()):
        numbers, contexts = [block.block for block in of_sample], [block.context_tokens for block in of_sample]
        if numbers != list(range(most)):
            shown = ", ".join(map(str, numbers[:8]))
            yield f"sample {sample} has blocks {shown}; {most} were compared", shown, f"0 to {most - 1}"
            break
        if contexts[0] <= 0 or contexts != sorted(contexts):
            yield f"the contexts of sample {sample} do not grow: {contexts[:8]}", str(contexts[:8]), "growing contexts"
            break
    sizes = sorted({len(ids) for block in parity.blocks for ids in (block.reference_tokens, block.candidate_tokens)})
    if len(sizes) > 1:
        yield f"blocks of {sizes[0]} to {sizes[-1]} tokens; whole blocks are compared", str(sizes[0]), str(sizes[-1])
    planned = report.plan.samples if report.plan is not None and report.kind == "parity" else None
    if planned is not None and sorted(blocks) != list(range(planned)):
        yield f"{len(blocks)} samples were compared, {planned} were planned", str(len(blocks)), str(planned)


def parity_shown(report: Report) -> frozenset[str]:
    """What the report's own blocks show, as `parity_key`s; whether the report is citable, a judge says.

    A recording shows nothing of the runtime it was made in, which did not run.
    """
    parity = report.parity
    if parity is None or parity.drafter_weights is None or any(parity_faults(report)):
        return frozenset()
    runtimes = (parity.candidate_runtime, *((parity.reference_runtime,) if parity.recording is None else ()))
    return frozenset(parity_key(parity.drafter_weights, runtime) for runtime in runtimes)


def parity_key(weights: str, runtime: str) -> str:
    """Names a drafter's weights in one of the runtimes that were compared."""
    return f"{weights} in {runtime}"


def codec_arm(result: KvQuantResult | None, name: str) -> CodecArm | None:
    """The arm of this name; failing that, of this codec."""
    arms = result.arms if result is not None else ()
    return next((arm for arm in arms if arm.name == name), next((arm for arm in arms if arm.codec == name), None))


def codec_figures(arm: CodecArm) -> CodecFigures:
    """Bits a value, error and recall from the samples; as printed where the samples lack one."""
    bits = _mean([_bits(row) for row in arm.samples])
    error = _mean([_error(row) for row in arm.samples])
    recall = _mean([row.correct for row in arm.samples])
    second = _mean([row.second.correct if row.second is not None else None for row in arm.samples])
    recall = recall if recall is not None else arm.stated_recall
    return CodecFigures(
        bits if bits is not None else arm.stated_bits,
        error if error is not None else arm.stated_relative_error,
        recall,
        (recall + second) / 2 if recall is not None and second is not None else recall,
    )


def _bits(row: CodecSample) -> float | None:
    return 8 * row.stored_bytes / row.values if row.stored_bytes is not None and row.values else None


def _error(row: CodecSample) -> float | None:
    if row.relative_error_k is not None and row.relative_error_v is not None:
        return (row.relative_error_k + row.relative_error_v) / 2
    return row.relative_error


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def worthwhile(view: ReportView, name: str) -> bool | None:
    """A codec is worth a native kernel only if, at no more bits than affine 4, it errs less and recalls no less.

    Recall is over both questions where both codecs were asked both.
    """
    arm, reference = codec_arm(view.report.kv_quant, name), codec_arm(view.report.kv_quant, AFFINE_4)
    if arm is None or reference is None:
        return None
    ours, theirs = codec_figures(arm), codec_figures(reference)
    recalls = (ours.answered, theirs.answered) if _asked_twice(arm, reference) else (ours.recall, theirs.recall)
    pairs = ((ours.bits, theirs.bits), (ours.error, theirs.error), recalls)
    if any(a is None or b is None for a, b in pairs):
        return None
    (bits, most), (error, worst), (recall, least) = ((a or 0.0, b or 0.0) for a, b in pairs)
    return bits <= most and error < worst and recall >= least


def _asked_twice(*arms: CodecArm) -> bool:
    return all(row.second is not None for arm in arms for row in arm.samples)


def value_of(view: ReportView, claim: BaseClaim) -> float | None:
    """The value of a parity or codec claim from the report's rows."""
    if isinstance(claim, ParityClaim):
        parity = view.report.parity
        return agreement(parity) if parity is not None and parity.candidate_runtime == claim.arm else None
    if isinstance(claim, KvQuantClaim):
        verdict = worthwhile(view, claim.arm)
        return float(verdict) if verdict is not None else None
    return None


def candidates(view: ReportView) -> Iterator[Claim]:
    """The parity claim of a parity report, and a verdict a codec of a quantisation report.

    A runtime that computes on codes has its kernel already.
    """
    parity = view.report.parity
    if parity is not None:
        name = parity.candidate_runtime
        yield ParityClaim(
            name=f"drafter_parity/{name}", metric="drafter_parity", value=0.0, arm=name, status="withheld"
        )
    for arm in view.report.kv_quant.arms if view.report.kv_quant is not None else ():
        if arm.name not in (IDENTITY, AFFINE_4) and arm.path != "runtime":
            yield KvQuantClaim(
                name=f"kv_codec_worthwhile/{arm.name}",
                metric="kv_codec_worthwhile",
                value=0.0,
                arm=arm.name,
                status="withheld",
                samples=len(arm.samples),
            )
