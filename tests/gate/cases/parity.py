"""Cases of the rules about the parity of a drafter."""

from reports.report import Report
from tests.gate.cases.bases import dflash, parity
from tests.gate.rule_case import RuleCase, measured


def disagree(report: Report) -> Report:
    """The last token of the first block is another one."""
    assert report.parity is not None
    first = report.parity.blocks[0]
    wrong = first.replace(candidate_tokens=(*first.candidate_tokens[:-1], 7))
    return report.replace(parity=report.parity.replace(blocks=(wrong, *report.parity.blocks[1:])))


CASES: dict[str, RuleCase] = {
    "PARITY_REQUIRED": measured(
        dflash, lambda report: report.replace(parity=None), "parity", claims=("acceptance/fused_dflash",)
    ),
    "PARITY_FAILED": measured(parity, disagree, "parity/blocks/0.0/candidate_tokens"),
}
