"""The oracle's own recall: whether the model can do the task at all."""

from collections.abc import Iterator

from gate.figures.prompt_shares import recall_of
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RECALL, Example, Finding
from gate.rulebook.thresholds import ORACLE_RECALL_FLOOR
from reports.records.claims import Claim


@claim_rule(
    "ORACLE_RECALL_LOW",
    title="A workload the model cannot do",
    catches="A claim about recall, the oracle's own included, while the oracle itself recalls under "
    f"{ORACLE_RECALL_FLOOR.value:g}, or was not scored.",
    why="Where the plain model fails, an arm that recalls as much as it has recalled nothing; and a 0 of the oracle is "
    "about the prompts or the token budget, not about the model's cache.",
    fix="Ask shorter or easier prompts, allow more new tokens, or take a model that can answer them.",
    blocks=RECALL,
    example=Example(bad="the oracle itself recalls 2/5", good="the oracle recalls 5/5"),
    thresholds=(ORACLE_RECALL_FLOOR,),
)
def oracle_recall_low(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The oracle recalls too little."""
    oracle = view.oracle
    found = recall_of(oracle) if oracle is not None else None
    if oracle is None or found is None:
        name = oracle.name if oracle is not None else None
        message = f"{name or 'no oracle'}: its recall is not known, so {claim.arm}'s says nothing"
        yield Finding(message, name, field="correct", found="none", allowed=f"{ORACLE_RECALL_FLOOR.value:g}")
    elif found.rate < ORACLE_RECALL_FLOOR.value:
        yield Finding(
            f"{oracle.name}: recalls {found.correct} of {found.total}; at least {ORACLE_RECALL_FLOOR.value:g} is "
            "needed: the workload or its token budget does not fit the model",
            arm=oracle.name,
            field="correct",
            found=f"{found.rate:.3g}",
            allowed=f"at least {ORACLE_RECALL_FLOOR.value:g}",
        )
