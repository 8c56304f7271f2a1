"""How many distinct streams a claim rests on, and how many tokens of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.counted_prompts import without_loops
from gate.figures.paired_ratios import prompt_of
from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import (
    MIN_DECODE_TOKENS,
    Threshold,
)
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement

MIN_STREAM_SAMPLES = Threshold(
    "MIN_STREAM_SAMPLES",
    5,
    "prompts",
    meaning="Distinct prompts whose streams are compared or counted before a share of them is printed.",
    source="as many as a ratio needs",
)

MIN_STREAM_TOKENS = Threshold(
    "MIN_STREAM_TOKENS",
    32,
    "tokens",
    meaning="Tokens of those streams together, each prompt once.",
    source="a cache rolled back wrongly is right for up to 7 tokens a stream, and 5 prompts of which are not much more",
)


@claim_rule(
    "STREAM_SAMPLES",
    title="A claim about streams from a few tokens",
    catches=f"Token identity or acceptance over fewer than {MIN_STREAM_SAMPLES.value} distinct prompts, or over "
    f"fewer than {MIN_STREAM_TOKENS.value} tokens of all of them together, each prompt counted once.",
    why="One stream of 4 tokens shows nothing: a cache that is rolled back wrongly is right for the first few tokens.",
    fix="Ask more prompts (`--samples`), or let the streams run longer (`--set max_new_tokens=N`).",
    blocks=("token_identity", "acceptance"),
    example=Example(bad="token identity 1/1, one stream of 4 tokens", good="5/5, streams of 10 tokens from 5 prompts"),
    thresholds=(MIN_STREAM_SAMPLES, MIN_STREAM_TOKENS),
)
def stream_samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The arm's streams are too few or too short."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    lengths = _lengths(without_loops(view, arm))
    if len(lengths) < MIN_STREAM_SAMPLES.value:
        yield Finding(
            f"{arm.name}: streams of {number_of(len(lengths), 'distinct prompt')}; at least {MIN_STREAM_SAMPLES.value} "
            "are needed",
            arm=arm.name,
            field="sample",
            found=str(len(lengths)),
            allowed=f"at least {MIN_STREAM_SAMPLES.value}",
        )
    elif sum(lengths) < MIN_STREAM_TOKENS.value:
        yield Finding(
            f"{arm.name}: {sum(lengths)} tokens in the streams of {number_of(len(lengths), 'prompt')}; at least "
            f"{MIN_STREAM_TOKENS.value} are needed",
            arm=arm.name,
            field="token_ids",
            found=str(sum(lengths)),
            allowed=f"at least {MIN_STREAM_TOKENS.value}",
        )


def _lengths(arm: Arm) -> list[int]:
    """Tokens emitted for each distinct prompt, in its shortest repeat; 0 where none are recorded."""
    prompts, shortest = prompt_of(arm.measurements), dict[int, int]()
    for row in arm.measurements:
        prompt = prompts[row.sample]
        length = len(row.token_ids) if row.token_ids is not None else (row.decode_tokens or 0)
        shortest[prompt] = min(shortest.get(prompt, length), length)
    return list(shortest.values())


@evidence_rule(
    "STREAM_REPEATED",
    title="Different prompts, the same stream",
    catches=f"Two samples of an arm with different prompts and the same {MIN_DECODE_TOKENS.value} or more tokens.",
    why="A prompt copied under a digest of its own is one sample; its stream, token for token, gives it away.",
    fix="Ask distinct prompts. Where the verifier really says the same to two of them, leave one out.",
    severity="withheld",
    blocks=(*RATIOS, "null_ratio", "token_identity", "acceptance"),
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
