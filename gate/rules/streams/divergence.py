"""Greedy streams of lossless arms: every token the verifier's own choice or tied with it, the stream the oracle's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gate.figures.statistics.exact_tests import binomial_tail
from gate.rulebook.near_ties import tie_gap
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, foreign_peer, lossless
from gate.rulebook.rule import NEEDS_STREAMS, Example, Finding
from gate.rulebook.thresholds import (
    NEAR_TIE_GAP,
    NEAR_TIE_GAP_BFLOAT16,
    NEAR_TIE_GAP_FLOAT16,
    Threshold,
)
from gate.rules.streams.departure import departure

if TYPE_CHECKING:
    from reports.records.measurement import Arm, AuditedStream, Measurement, Mismatch


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
        if not lossless(arm) or _read_back(view, arm):
            continue
        for finding in _astray(view, arm):
            yield replace(finding, severity="withheld", outcome=True) if foreign_peer(view, arm) else finding


@evidence_rule(
    "STREAM_READ_BACK",
    title="A stream read back from text, which parts from the verifier's",
    catches="A peer of another project whose server sends text alone, and whose tokens, as they were read from that "
    "text, are not all the verifier's choice or tied with it, or leave the oracle's stream; or are not as many as the "
    "server says it generated.",
    why="A text can stand for several rows of tokens. Where another one was read than the server emitted, it is the "
    "reading that departs, so the server must not be accused; nor is it shown to say what the verifier says.",
    fix="Measure a server that returns token ids (`return_token_ids`, as vLLM does).",
    severity="withheld",
    blocks=NEEDS_STREAMS,
    example=Example(
        bad="ids read back from text; token 0 is 906 (label), the verifier's choice 697 (with a space before it)",
        good="ids read back from text, and every one the verifier's choice",
    ),
    thresholds=(NEAR_TIE_GAP, NEAR_TIE_GAP_FLOAT16, NEAR_TIE_GAP_BFLOAT16),
)
def stream_read_back(view: ReportView) -> Iterator[Finding]:
    """What was read from a server's text is not what the verifier says; nobody can tell by whose fault."""
    for arm in view.report.arms:
        read = lossless(arm) and _read_back(view, arm)
        astray = [*_astray(view, arm), *_miscounted(arm)] if read else []
        if astray:
            more = f"; {len(astray) - 1} more like it" if astray[1:] else ""
            yield replace(
                astray[0],
                message=f"{astray[0].message}{more}. Its ids were read back from text, so it cannot be told whether "
                "the server departs or the reading",
                outcome=True,
            )


def _read_back(view: ReportView, arm: Arm) -> bool:
    served = arm.served_by
    return foreign_peer(view, arm) and served is not None and served.token_ids == "read_back"


def _miscounted(arm: Arm) -> Iterator[Finding]:
    """Rows of other lengths than the server tells. Servers differ in whether the end of text counts; one that tells so
    of a row tells it of all."""
    told = any(row.served_tokens is not None for row in arm.measurements)
    for row in arm.measurements:
        if told and row.served_tokens is None:
            message = f"{arm.name}, sample {row.sample}, repeat {row.repeat}: what the server generated is not told"
            yield Finding(message, arm.name, row.sample, "served_tokens", "none", "as in the other rows")
        if row.served_tokens is None or row.token_ids is None:
            continue
        most = len(row.token_ids)
        least = most - (row.stop_reason == "eos")
        if not least <= row.served_tokens <= most:
            yield Finding(
                f"{arm.name}, sample {row.sample}, repeat {row.repeat}: the server says it generated "
                f"{row.served_tokens} tokens, the row has {most}",
                arm=arm.name,
                sample=row.sample,
                field="served_tokens",
                found=str(row.served_tokens),
                allowed=str(most) if least == most else f"{least} or {most}",
            )


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


def _departures(view: ReportView, arm: Arm, tie: float) -> Iterator[Finding]:
    """Rows whose stream is not the one the oracle emitted for the same sample, where no tie explains it."""
    if view.oracle is None or arm.prompt_set != view.oracle.prompt_set:
        truth = {row.sample: (arm, row) for row in reversed(arm.measurements)}
    else:
        truth = {row.sample: (view.oracle, row) for row in reversed(view.oracle.measurements)}
    for row in arm.measurements:
        against, theirs = truth.get(row.sample, (arm, row))
        place = departure(row, theirs)
        if place is None or _tied(view, arm, row, place, tie) or _tied(view, against, theirs, place, tie):
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


def _tied(view: ReportView, arm: Arm, row: Measurement, place: int, tie: float) -> bool:
    """The audit of this very stream records a tie at `place`."""
    stream = view.audit_of(arm, row)
    return stream is not None and any(miss.position == place and 0 <= miss.gap <= tie for miss in stream.mismatches)


MAX_TIES = Threshold(
    "MAX_TIES",
    0.002,
    "share of tokens",
    meaning="Ties among the audited tokens of an arm in float32, beside a first one.",
    source="numerical noise of 5e-5 flips fewer than one token in 10,000",
)


TIE_RATE = Threshold(
    "TIE_RATE",
    0.01,
    "share of tokens",
    meaning="Ties among the audited tokens of an arm in float16 or bfloat16, in the long run.",
    source="ties were seen to flip in one token of 150 to 190",
)

TIE_LUCK = Threshold(
    "TIE_LUCK",
    0.001,
    "probability",
    meaning="Chance of so many ties at that rate, under which they are no chance any more.",
    source="a choice: one report in a thousand",
)


@evidence_rule(
    "STREAM_TIES",
    title="More ties than numerical noise makes",
    catches="A lossless arm of a float32 verifier whose audit calls more than one token, and more than "
    f"{MAX_TIES.value:.1%} of all, another choice than the verifier's; of a coarser one, more than a rate of "
    f"{TIE_RATE.value:.0%} makes by chance.",
    why="A gap shrunk to that of a tie excuses a divergence, one number at a time.",
    fix="Find the fault that makes the streams differ; let the audit write the gaps.",
    severity="withheld",
    blocks=NEEDS_STREAMS,
    example=Example(bad="5 ties in 240 tokens of float32", good="no tie in 240 tokens, or one"),
    thresholds=(MAX_TIES, TIE_RATE, TIE_LUCK),
)
def stream_ties(view: ReportView) -> Iterator[Finding]:
    """Mismatches that are small, and too many."""
    dtype = view.verifier.dtype if view.verifier is not None else None
    for arm in view.report.arms if dtype is not None else ():
        if not lossless(arm) or arm.stream_audit is None:
            continue
        streams = arm.stream_audit.streams
        ties, tokens = sum(len(one.mismatches) for one in streams), sum(one.tokens_checked for one in streams)
        excess = _too_many(ties, tokens, exact=dtype == "float32")
        if excess is not None:
            yield Finding(
                f"{arm.name}: {ties} of {tokens} audited tokens are not the verifier's choice; in {dtype} {excess}",
                arm=arm.name,
                field="stream_audit",
                found=str(ties),
                allowed=excess,
            )


def _too_many(ties: int, tokens: int, *, exact: bool) -> str | None:
    """What ties come to instead, in float32 or in a type in which logits are as coarse as ties; none if no more."""
    if exact:
        most = max(1, int(MAX_TIES.value * tokens))
        return f"ties make at most {most}" if ties > most else None
    luck = binomial_tail(ties, tokens, TIE_RATE.value) if ties > TIE_RATE.value * tokens else 1.0
    return (
        f"about {TIE_RATE.value * tokens:.1f} are ties, and so many by a chance of {luck:.1g}"
        if luck < TIE_LUCK.value
        else None
    )
