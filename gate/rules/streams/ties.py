"""How often numerical noise may decide a token: hardly ever in float32."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, lossless
from gate.rulebook.rule import NEEDS_STREAMS, Example, Finding
from gate.rulebook.thresholds import Threshold

MAX_TIES = Threshold(
    "MAX_TIES",
    0.002,
    "share of tokens",
    meaning="Ties among the audited tokens of an arm in float32, beside a first one.",
    source="numerical noise of 5e-5 flips fewer than one token in 10,000",
)


@evidence_rule(
    "STREAM_TIES",
    title="More ties than numerical noise makes",
    catches="A lossless arm of a float32 verifier whose audit calls more than one token, and more than "
    f"{MAX_TIES.value:.1%} of all, another choice than the verifier's.",
    why="A gap shrunk to that of a tie excuses a divergence, one number at a time.",
    fix="Find the fault that makes the streams differ; let the audit write the gaps.",
    severity="withheld",
    blocks=NEEDS_STREAMS,
    example=Example(bad="5 ties in 240 tokens of float32", good="no tie in 240 tokens, or one"),
    thresholds=(MAX_TIES,),
)
def stream_ties(view: ReportView) -> Iterator[Finding]:
    """Mismatches that are small, and too many."""
    if view.verifier is None or view.verifier.dtype != "float32":
        return
    for arm in view.report.arms:
        if not lossless(arm) or arm.stream_audit is None:
            continue
        streams = arm.stream_audit.streams
        ties, tokens = sum(len(one.mismatches) for one in streams), sum(one.tokens_checked for one in streams)
        most = max(1, int(MAX_TIES.value * tokens))
        if ties > most:
            yield Finding(
                f"{arm.name}: {ties} of {tokens} audited tokens are not the verifier's choice; in float32 ties make at "
                f"most {most}",
                arm=arm.name,
                field="stream_audit",
                found=str(ties),
                allowed=f"at most {most}",
            )
