"""A rule: no speed from streams of a few tokens."""

from collections.abc import Iterator

import k3

LEAST_TOKENS = 48


def _short(view: k3.ReportView, claim: k3.BaseClaim) -> Iterator[k3.Finding]:
    arm = view.arms.get(claim.arm)
    shortest = min((row.decode_tokens or 0 for row in arm.measurements), default=0) if arm is not None else 0
    if arm is not None and shortest < LEAST_TOKENS:
        message = f"{arm.name}: a stream of {shortest} tokens; our speeds are of {LEAST_TOKENS} or more"
        yield k3.Finding(message, arm.name, None, "decode_tokens", str(shortest), f"at least {LEAST_TOKENS}")


RULE = k3.Rule(
    code="k3-example:short-streams",
    title="Speed of short streams",
    catches=f"A ratio over an arm with a stream of fewer than {LEAST_TOKENS} tokens.",
    why="Our streams are long; what holds for a few tokens says nothing of them.",
    fix="Ask for longer streams.",
    since=1,
    severity="withheld",
    blocks=("decode_speedup", "e2e_speedup", "arm_ratio"),
    example=k3.Example(bad="streams of 8 tokens", good="streams of 64 tokens"),
    claim=_short,
)
