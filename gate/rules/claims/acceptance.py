"""Acceptance, which is of the drafts and told in three figures."""

from collections.abc import Iterator

from gate.figures.estimators import acceptances
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.records.claims import (
    AcceptanceClaim,
    Claim,
)


@claim_rule(
    "ACCEPTANCE_DENOMINATOR",
    title="Acceptance that is not of the drafts",
    catches="An acceptance over output tokens or an unknown denominator, or without committed per block and acceptance "
    "by position.",
    why="86 % per output token were 41 % of the drafts: the verifier's own tokens are not in that denominator.",
    fix="Report accepted / drafted, committed per block and acceptance by position together.",
    blocks=("acceptance",),
    example=Example(
        bad="86 % of the output tokens were drafted",
        good="41 % of the drafts accepted, 2.9 committed a block, and by position",
    ),
)
def acceptance_denominator(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The figure divides by something else than drafts, or stands alone."""
    if not isinstance(claim, AcceptanceClaim):
        return
    arm = view.arms.get(claim.arm)
    if claim.denominator != "drafted":
        true = acceptances(arm).get("drafted") if arm is not None else None
        known = f"; of the drafts at most {true:.3g} were accepted" if true is not None else ""
        message = f"{claim.arm}: {claim.value:.3g} is accepted drafts over {claim.denominator.replace('_', ' ')}{known}"
        yield Finding(message, claim.arm, None, "claims.denominator", claim.denominator, "drafted")
    if claim.committed_per_block is None or claim.by_position is None:
        message = f"{claim.arm}: acceptance stands without committed per block or without acceptance by position"
        yield Finding(message, claim.arm, None, "claims.by_position", "none", "three figures")
