"""What a run comes to: one thing said a verdict, the same in a terminal and on a page."""

from dataclasses import replace

import pytest

from gate.judging.judged_file import JudgedFile
from gate.render.outcome import nothing_said, outcome_lines
from gate.render.withheld import withheld
from reports.records.verdict import Verdict
from tests.gate.render import samples


def silent(verdict: Verdict) -> JudgedFile:
    """A file that breaks a rule, of this verdict."""
    return replace(samples.withheld(), verdict=verdict, headlines=())


def text(file: JudgedFile, *, listed: bool = False) -> str:
    return "\n".join("".join(span for span, _ in line) for line in outcome_lines(file, listed=listed))


def test_broken_evidence_and_honest_evidence_that_breaks_a_rule_are_told_apart() -> None:
    assert nothing_said(silent("invalid")) == "Nothing may be quoted from this report: its evidence is broken."
    honest = "Nothing may be quoted from this report until the rules that it breaks are satisfied."
    assert nothing_said(silent("withheld")) == honest
    assert nothing_said(silent("legacy")).endswith(": its form is too old to be judged.")


def test_what_a_report_withholds_itself_is_no_broken_rule() -> None:
    own = replace(silent("admissible"), violations=())
    assert own.withheld
    assert nothing_said(own) == "Nothing may be quoted from this report yet."
    assert nothing_said(replace(own, claims=())) == "This report makes no claim that may be quoted."


@pytest.mark.parametrize("count", [1, 5])
def test_the_other_rules_are_said_to_stand_where_they_do(count: int) -> None:
    file = silent("withheld")
    (claim,) = file.withheld
    codes = (*claim.withheld_by, *(f"ZZ_{number}" for number in range(count)))
    crowded = replace(file, claims=(claim.replace(withheld_by=codes),))
    assert len(withheld(crowded)[0].others) == count
    them = "it" if count == 1 else "them"
    assert f"in the way; `k3 report show -v {file.path}` lists {them}." in text(crowded)
    assert "show -v" not in text(crowded, listed=True)
    assert f"in the way; the list of claims below names {them}." in text(crowded, listed=True)
