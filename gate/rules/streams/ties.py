"""How often numerical noise may decide a token: hardly ever in float32."""

from collections.abc import Iterator

from gate.rulebook import thresholds
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, lossless
from gate.rulebook.rule import Finding
from gate.rules.streams.greedy import NEEDS_STREAMS


@evidence_rule(
    "STREAM_TIES",
    title="More ties than numerical noise makes",
    catches="A lossless arm of a float32 verifier whose audit calls more than one token, and more than "
    f"{thresholds.MAX_TIES:.1%} of all, another choice than the verifier's.",
    why="A gap shrunk to that of a tie excuses a divergence, one number at a time.",
    fix="Find the fault that makes the streams differ; let the audit write the gaps.",
    severity="withheld",
    blocks=NEEDS_STREAMS,
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
        most = max(1, int(thresholds.MAX_TIES * tokens))
        if ties > most:
            yield Finding(
                f"{arm.name}: {ties} of {tokens} audited tokens are not the verifier's choice; in float32 ties make at "
                f"most {most}",
                arm=arm.name,
                field="stream_audit",
                found=str(ties),
                allowed=f"at most {most}",
            )
