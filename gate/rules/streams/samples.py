"""How much text a claim about streams rests on."""

from collections.abc import Iterator

from gate.figures.paired_ratios import prompt_of
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.claims import Claim
from reports.records.measurement import Arm

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
    fix="Ask more prompts (`--samples`), or let the streams run longer (`--max-new-tokens`).",
    blocks=("token_identity", "acceptance"),
    example=Example(bad="token identity 1/1, one stream of 4 tokens", good="5/5, streams of 10 tokens from 5 prompts"),
    thresholds=(MIN_STREAM_SAMPLES, MIN_STREAM_TOKENS),
)
def stream_samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The arm's streams are too few or too short."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    lengths = _lengths(arm)
    if len(lengths) < MIN_STREAM_SAMPLES.value:
        yield Finding(
            f"{arm.name}: streams of {len(lengths)} distinct prompts; at least {MIN_STREAM_SAMPLES.value} are needed",
            arm=arm.name,
            field="sample",
            found=str(len(lengths)),
            allowed=f"at least {MIN_STREAM_SAMPLES.value}",
        )
    elif sum(lengths) < MIN_STREAM_TOKENS.value:
        yield Finding(
            f"{arm.name}: {sum(lengths)} tokens in the streams of {len(lengths)} prompts; at least "
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
