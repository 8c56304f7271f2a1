"""What was said: greedy streams against the verifier's own choice, against each other, and collapsed ones."""

from collections.abc import Iterator
from dataclasses import replace

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, foreign_peer, lossless, row_key
from gate.rulebook.rule import SPEEDUP, Example, Finding
from gate.rulebook.thresholds import (
    DEGENERATE_LINE_LENGTH,
    DEGENERATE_LINES,
    DEGENERATE_REPEATS,
    DEGENERATE_UNIT,
    MIN_DECODE_TOKENS,
    Threshold,
)
from reports.records.measurement import Arm, AuditedStream, Measurement, Mismatch
from reports.scoring import is_degenerate

NEEDS_STREAMS = (*SPEEDUP, "token_identity", "acceptance", "restoration_recall")


NEAR_TIE_GAP = Threshold(
    "NEAR_TIE_GAP",
    0.01,
    "logits",
    meaning="Gap under which another argmax is a numerical tie in float32.",
    source="L=1 against L=8 differ by 5e-5 at most; the smallest top-2 gap met was 0.016",
)

NEAR_TIE_GAP_FLOAT16 = Threshold(
    "NEAR_TIE_GAP_FLOAT16",
    0.05,
    "logits",
    meaning="The same for a verifier in float16.",
    source="its logits near 32 are 0.03 apart",
)

NEAR_TIE_GAP_BFLOAT16 = Threshold(
    "NEAR_TIE_GAP_BFLOAT16",
    0.25,
    "logits",
    meaning="The same for bfloat16.",
    source="logits near 32 are 0.25 apart, and ties were seen to flip in one token of 150 to 190",
)


@evidence_rule(
    "STREAM_DIVERGENCE",
    title="A lossless arm that says something else than the verifier",
    catches="In an arm that loses nothing: a token that is not the verifier's argmax beyond a numerical tie, or a "
    "stream that leaves the oracle's without such a tie, or ends before it. In a peer that runs another project's "
    "loop it stands in the way of that peer's claims only.",
    why="A ring cache rolled back wrongly diverges at token 2 to 7, and its tokens come as fast as right ones.",
    fix="Repair the rollback or the mask; a lossy engine is an arm with a restoration mode that says so.",
    example=Example(
        bad="a fused stream leaves the verifier's argmax by a gap of 2.4",
        good="every token is the argmax, or tied within 0.01",
    ),
    thresholds=(NEAR_TIE_GAP, NEAR_TIE_GAP_FLOAT16, NEAR_TIE_GAP_BFLOAT16),
)
def stream_divergence(view: ReportView) -> Iterator[Finding]:
    """Greedy output differs from the verifier's, or from the oracle's."""
    for arm in view.report.arms:
        if not lossless(arm):
            continue
        for finding in _astray(view, arm):
            yield replace(finding, severity="withheld", outcome=True) if foreign_peer(arm) else finding


def _astray(view: ReportView, arm: Arm) -> Iterator[Finding]:
    tie = tie_gap(view)
    for stream in arm.stream_audit.streams if arm.stream_audit is not None else ():
        for miss in stream.mismatches:
            if miss.gap > tie:
                yield _no_argmax(arm, stream, miss, tie)
    yield from _departures(view, arm, tie)


def _no_argmax(arm: Arm, stream: AuditedStream, miss: Mismatch, tie: float) -> Finding:
    return Finding(
        f"{arm.name}, sample {stream.sample}, repeat {stream.repeat}: token {miss.position} is {miss.emitted}, the "
        f"verifier's choice {miss.argmax} by a logit gap of {miss.gap:.4g}; a tie is at most {tie:g}",
        arm=arm.name,
        sample=stream.sample,
        field="stream_audit",
        found=f"{miss.gap:.4g}",
        allowed=f"at most {tie:g}",
    )


def tie_gap(view: ReportView) -> float:
    """The logit gap up to which another argmax is a numerical tie, in the verifier's precision."""
    dtype = view.verifier.dtype if view.verifier is not None else None
    if dtype == "bfloat16":
        return NEAR_TIE_GAP_BFLOAT16.value
    return NEAR_TIE_GAP_FLOAT16.value if dtype == "float16" else NEAR_TIE_GAP.value


def _departures(view: ReportView, arm: Arm, tie: float) -> Iterator[Finding]:
    """Rows whose stream is not the one the oracle emitted for the same sample, where no tie explains it."""
    if view.oracle is None or arm.prompt_set != view.oracle.prompt_set:
        truth = {row.sample: (arm, row) for row in reversed(arm.measurements)}
    else:
        truth = {row.sample: (view.oracle, row) for row in reversed(view.oracle.measurements)}
    for row in arm.measurements:
        against, theirs = truth.get(row.sample, (arm, row))
        place = departure(row, theirs)
        if place is None or _tied(arm, row, place, tie) or _tied(against, theirs, place, tie):
            continue
        yield Finding(
            f"{arm.name}, sample {row.sample}, repeat {row.repeat}: the stream leaves that of {against.name} "
            f"(repeat {theirs.repeat}) at token {place}, and no tie is recorded there",
            arm=arm.name,
            sample=row.sample,
            field="token_ids",
            found=f"differs at token {place}",
            allowed="the same stream",
        )


def departure(row: Measurement, other: Measurement) -> int | None:
    """The first token at which two streams differ (also by ending), or character where ids are missing; none if equal.

    Streams of different budgets are not compared beyond the shorter one's length if both ran out of budget.
    """
    ours, theirs = (row.token_ids, other.token_ids)
    if ours is None or theirs is None:
        if row.text is None or other.text is None or row.text == other.text:
            return None
        return next((i for i, (a, b) in enumerate(zip(row.text, other.text, strict=False)) if a != b), 0)
    if ours == theirs:
        return None
    shorter = min(len(ours), len(theirs))
    return next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)


def _tied(arm: Arm, row: Measurement, place: int, tie: float) -> bool:
    """The audit of this very stream records a tie at `place`."""
    stream = audit_of(arm, row)
    return stream is not None and any(miss.position == place and 0 <= miss.gap <= tie for miss in stream.mismatches)


def audit_of(arm: Arm, row: Measurement) -> AuditedStream | None:
    """The audit of the row's stream: its own, or that of a row of the same sample with the same tokens."""
    if arm.stream_audit is None:
        return None
    same = {row_key(other) for other in arm.measurements if other.sample == row.sample and _equal(other, row)}
    return next((stream for stream in arm.stream_audit.streams if (stream.sample, stream.repeat) in same), None)


def _equal(row: Measurement, other: Measurement) -> bool:
    return row.token_ids is not None and row.token_ids == other.token_ids


@evidence_rule(
    "STREAM_AUDIT_MISMATCH",
    title="An audit that does not fit its stream",
    catches="An audited stream that no row has, a number of checked tokens that is not its length, or a mismatch "
    "whose token is not the one emitted there.",
    why="An audit copied from another run, or of the tokens before they were edited, proves nothing about these.",
    fix="Audit the streams that the report holds, after the run and before the file is written.",
    example=Example(bad="40 tokens checked of a stream of 48", good="48 tokens checked of a stream of 48"),
)
def stream_audit_mismatch(view: ReportView) -> Iterator[Finding]:
    """Audit and rows disagree about what was emitted."""
    for arm in view.report.arms:
        rows = {row_key(row): row for row in arm.measurements}
        for stream in arm.stream_audit.streams if arm.stream_audit is not None else ():
            row = rows.get((stream.sample, stream.repeat))
            ids = row.token_ids if row is not None and row.token_ids is not None else ()
            fault = _audit_fault(stream, ids) if row is not None else "no row has this stream"
            if fault is not None:
                yield Finding(
                    f"{arm.name}, sample {stream.sample}, repeat {stream.repeat}: {fault}",
                    arm=arm.name,
                    sample=stream.sample,
                    field="stream_audit",
                    found=str(stream.tokens_checked),
                    allowed=str(len(ids)),
                )


def _audit_fault(stream: AuditedStream, ids: tuple[int, ...]) -> str | None:
    if stream.tokens_checked != len(ids):
        return f"{stream.tokens_checked} tokens were audited, {len(ids)} were emitted"
    places = [miss.position for miss in stream.mismatches]
    if places != sorted(set(places)):
        return f"its mismatches do not ascend ({', '.join(map(str, places[:6]))})"
    for miss in stream.mismatches:
        if miss.position >= len(ids) or ids[miss.position] != miss.emitted:
            return f"the audit saw token {miss.emitted} at {miss.position}, the row emitted another"
        if miss.argmax == miss.emitted or miss.gap < 0:
            return f"the mismatch at {miss.position} is none (argmax {miss.argmax}, gap {miss.gap})"
    return None


@evidence_rule(
    "STREAM_UNAUDITED",
    title="Streams that nobody checked against the verifier",
    catches="A row of the oracle or of an arm under test that loses nothing, whose tokens are missing or were not "
    "audited.",
    why="Equal to the oracle is not right if the oracle is wrong, and equal cannot be told without tokens.",
    fix="Keep the token ids of every row and audit every distinct stream, teacher-forced.",
    severity="withheld",
    blocks=NEEDS_STREAMS,
    example=Example(bad="a fused arm without `stream_audit`", good="every distinct stream of the arm audited"),
)
def stream_unaudited(view: ReportView) -> Iterator[Finding]:
    """A stream of the oracle or of a lossless arm under test was not audited."""
    for arm in view.report.arms:
        if not lossless(arm) or arm.role == "control":
            continue
        audited = {(stream.sample, stream.repeat) for stream in arm.stream_audit.streams} if arm.stream_audit else set()
        known = {(row.sample, row.token_ids) for row in arm.measurements if row_key(row) in audited}
        unknown = [row for row in arm.measurements if row.token_ids is None or (row.sample, row.token_ids) not in known]
        if unknown:
            yield Finding(
                f"{arm.name}: {len(unknown)} of {len(arm.measurements)} streams were not audited (first: sample "
                f"{unknown[0].sample}, repeat {unknown[0].repeat})",
                arm=arm.name,
                sample=unknown[0].sample,
                field="stream_audit",
                found=str(len(arm.measurements) - len(unknown)),
                allowed=str(len(arm.measurements)),
            )


REPEATED_TOKENS = Threshold(
    "REPEATED_TOKENS",
    4,
    "tokens",
    meaning="Longest unit of tokens whose repetition at the tail of a stream is looked for.",
    source="a token is two characters or more, and a unit of text has eight",
)


@evidence_rule(
    "OUTPUT_DEGENERATE",
    title="A stream that collapsed into a repeat",
    catches="A text of an arm under test with 8 or more short equal lines, or a unit of 1 to 8 characters 8 or more "
    "times at its tail; or tokens that end in 8 or more repeats of 1 to 4 of them.",
    why="A runaway repeat is accepted draft after draft: it inflates accept lengths, and the answer before it is luck.",
    fix="Find the fault that made the stream collapse; if the verifier itself collapses, change the prompts.",
    severity="withheld",
    example=Example(bad="`la la la la la la la la la`", good="`The code is BETA-1409.`"),
    thresholds=(DEGENERATE_LINES, DEGENERATE_LINE_LENGTH, DEGENERATE_UNIT, DEGENERATE_REPEATS, REPEATED_TOKENS),
)
def output_degenerate(view: ReportView) -> Iterator[Finding]:
    """A stream of an arm under test collapsed."""
    texts: dict[str, bool] = {}
    tails: dict[tuple[int, ...], bool] = {}
    for arm in view.under_test:
        for row in arm.measurements:
            text, tail = row.text or "", (row.token_ids or ())[-DEGENERATE_REPEATS.value * REPEATED_TOKENS.value :]
            if text not in texts:
                texts[text] = is_degenerate(text)
            if tail not in tails:
                tails[tail] = _repeats(tail)
            if texts[text] or tails[tail]:
                field, end = ("text", repr(text[-24:])) if texts[text] else ("token_ids", str(tail[-8:]))
                where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
                yield Finding(
                    f"{where}: the {field.split('_')[0]} ends in a runaway repeat ({end})",
                    arm=arm.name,
                    sample=row.sample,
                    field=field,
                    found=end,
                    allowed="no repeat",
                    outcome=foreign_peer(arm),
                )


def _repeats(tail: tuple[int, ...]) -> bool:
    """The tokens end in `DEGENERATE_REPEATS` equal units of up to `REPEATED_TOKENS`, whatever the text says."""
    spans = ((unit, unit * DEGENERATE_REPEATS.value) for unit in range(1, REPEATED_TOKENS.value + 1))
    return any(len(tail) >= span and tail[-span:-unit] == tail[unit - span :] for unit, span in spans)


@evidence_rule(
    "STREAM_REPEATED",
    title="Different prompts, the same stream",
    catches=f"Two samples of an arm with different prompts and the same {MIN_DECODE_TOKENS.value} or more tokens.",
    why="A prompt copied under a digest of its own is one sample; its stream, token for token, gives it away.",
    fix="Ask distinct prompts. Where the verifier really says the same to two of them, leave one out.",
    severity="withheld",
    blocks=(*SPEEDUP, "null_ratio", "token_identity", "acceptance"),
    example=Example(bad="48 equal tokens for two prompts", good="a stream of its own for every prompt"),
    thresholds=(MIN_DECODE_TOKENS,),
)
def stream_repeated(view: ReportView) -> Iterator[Finding]:
    """A long stream was emitted for two prompts."""
    for arm in view.report.arms:
        first: dict[tuple[int, ...], Measurement] = {}
        for row in arm.measurements:
            ids = row.token_ids or ()
            other = first.setdefault(ids, row)
            if len(ids) > MIN_DECODE_TOKENS.value and other.sample != row.sample:
                yield Finding(
                    f"{arm.name}: samples {other.sample} and {row.sample} are different prompts with the same "
                    f"{len(ids)} tokens",
                    arm=arm.name,
                    sample=row.sample,
                    field="token_ids",
                    found=f"the tokens of sample {other.sample}",
                    allowed="a stream of its own",
                )
                break
