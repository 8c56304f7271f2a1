"""How much text a claim about streams rests on."""

from collections.abc import Iterator

from gate.figures import derive
from gate.rulebook import thresholds
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Finding
from reports.records.claims import Claim
from reports.records.measurement import Arm


@claim_rule(
    "STREAM_SAMPLES",
    title="A claim about streams from a few tokens",
    catches=f"Token identity or acceptance over fewer than {thresholds.MIN_STREAM_SAMPLES} distinct prompts, or over "
    f"fewer than {thresholds.MIN_STREAM_TOKENS} tokens of all of them together, each prompt counted once.",
    why="One stream of 4 tokens shows nothing: a cache that is rolled back wrongly is right for the first few tokens.",
    fix="Ask more prompts (`--samples`), or let the streams run longer (`--max-new-tokens`).",
    blocks=("token_identity", "acceptance"),
)
def stream_samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The arm's streams are too few or too short."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    lengths = _lengths(arm)
    if len(lengths) < thresholds.MIN_STREAM_SAMPLES:
        yield Finding(
            f"{arm.name}: streams of {len(lengths)} distinct prompts; at least {thresholds.MIN_STREAM_SAMPLES} are "
            "needed",
            arm=arm.name,
            field="sample",
            found=str(len(lengths)),
            allowed=f"at least {thresholds.MIN_STREAM_SAMPLES}",
        )
    elif sum(lengths) < thresholds.MIN_STREAM_TOKENS:
        yield Finding(
            f"{arm.name}: {sum(lengths)} tokens in the streams of {len(lengths)} prompts; at least "
            f"{thresholds.MIN_STREAM_TOKENS} are needed",
            arm=arm.name,
            field="token_ids",
            found=str(sum(lengths)),
            allowed=f"at least {thresholds.MIN_STREAM_TOKENS}",
        )


def _lengths(arm: Arm) -> list[int]:
    """Tokens emitted for each distinct prompt, in its shortest repeat; 0 where none are recorded."""
    prompts, shortest = derive.prompt_of(arm.measurements), dict[int, int]()
    for row in arm.measurements:
        prompt = prompts[row.sample]
        length = len(row.token_ids) if row.token_ids is not None else (row.decode_tokens or 0)
        shortest[prompt] = min(shortest.get(prompt, length), length)
    return list(shortest.values())
