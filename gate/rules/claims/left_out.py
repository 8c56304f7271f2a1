"""Claims that a report could carry and leaves out."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding


@evidence_rule(
    "CLAIM_LEFT_OUT",
    title="A claim that was left out",
    catches="A judged report of K3 that states some of the claims that its rows carry and not the others.",
    why="The decode ratio of 3.43 stood alone; the end-to-end ratio beside it had been deleted.",
    fix="Let the gate write all claims (`k3 gate conclude`): what cannot be claimed stands there as withheld.",
    severity="withheld",
    example=Example(bad="decode_speedup/fused alone", good="decode_speedup/fused beside e2e_speedup/fused"),
    since=4,
)
def claim_left_out(view: ReportView) -> Iterator[Finding]:
    """A claim that the rows carry is not in the report. (One without any claim says nothing.)"""
    if view.imported or not view.report.claims:
        return
    from gate.claims.propose import candidates
    from gate.claims.recompute import recompute

    stated = {claim.name for claim in view.report.claims}
    unsaid = (claim for claim in candidates(view) if claim.name not in stated)
    lacking = [claim.name for claim in unsaid if recompute(view, claim) is not None]
    if lacking:
        message = f"claims: without {', '.join(lacking[:4])}" + (f" and {len(lacking) - 4} more" if lacking[4:] else "")
        yield Finding(message, field="claims", found=f"{len(stated)} claims", allowed=f"{len(lacking)} more")
