"""Claims that hide that what they were measured on was trained on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.in_distribution import RESTING_ON, in_distribution
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding

if TYPE_CHECKING:
    from reports.records.claims import Claim

_SAYS = {
    "yes": "prompts are of templates or documents that the weights were trained on",
    "kind": "prompts are of other documents, of a kind that the weights were trained on",
    "no": "no prompt is of a kind that the weights were trained on",
    "unknown": "it cannot be told whether the weights were trained on such text",
    None: "no trained weights take part, or the prompts know no group",
}


@claim_rule(
    "TRAIN_TEST_OVERLAP",
    title="Measured on what it was trained on, and not told so",
    catches="A claim of a drafter's or an f_theta's that does not say, in `in_distribution`, what the recipe of its "
    "weights and the groups of the prompts say: that they overlap, share a kind, are apart, or cannot be told apart.",
    why="A drafter that was headlined at 2.05x on the templates of its training accepted 0.4 % of its drafts, 1.02 "
    "tokens a block, on six templates that it had not seen.",
    fix="Let the gate propose the claims; measure on held-out documents, too (`k3 presets list`: code-stdlib-*).",
    blocks=tuple(RESTING_ON),
    since=3,
    severity="invalid",
    example=Example(
        bad="drafts on its training templates, claimed as text that it never saw",
        good="the same, claimed as text of the kind that it was trained on",
    ),
)
def train_test_overlap(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """What the claim says of its text is not what recipe and groups give."""
    derived = in_distribution(view, claim)
    if claim.in_distribution != derived:
        message = f"{claim.name}: in_distribution is {claim.in_distribution}; {_SAYS[derived]}"
        yield Finding(message, claim.arm, None, "claims.in_distribution", str(claim.in_distribution), str(derived))
