"""Looks that were left out, edited, or that the run did not do as they say."""

import pytest

from gate.judging.rule_set import RULE_SET
from reports.records.plan import Stopping
from reports.records.verdict import GateBlock
from tests.gate.asking import ask
from tests.gate.cases.bases import looked_at
from tests.gate.edits import set_plan
from tests.gate.honest import Setup, measured_code

RUN = measured_code(Setup(samples=6, repeats=1, max_new_tokens=34, draft_arms=("native",), processes=6))
PLANNED = Stopping(width=0.01, first=3, most=6)
LOOKED = looked_at(RUN, PLANNED)


def found(report):
    return [finding.found for finding in ask("LOOKS_CONTRADICTED", report)]


def edited(**changes):
    return set_plan(LOOKED, stopping=LOOKED.plan.stopping.replace(**changes))


def edited_look(place, **changes):
    looks = list(LOOKED.plan.stopping.looks)
    looks[place] = looks[place].replace(**changes)
    return edited(looks=tuple(looks))


def test_honest_looks_are_silent():
    assert found(LOOKED) == []
    assert found(RUN) == []


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"looks": ()}, "no"),
        ({"looks": LOOKED.plan.stopping.looks[:1]}, "3"),
        ({"first": 2}, "3, 6"),
        ({"most": 9}, "no"),
    ],
)
def test_looks_are_those_that_the_plan_declares(changes, shown):
    assert found(edited(**changes)) == [shown] if changes.get("most") is None else found(edited(**changes)) != []


@pytest.mark.parametrize("name", ["width", "least", "seconds"])
def test_what_a_look_saw_is_derived_from_the_rows(name):
    edited = getattr(LOOKED.plan.stopping.looks[0], name) + 0.001
    assert found(edited_look(0, **{name: edited})) == [f"{edited:.6g}"]


@pytest.mark.parametrize(("rule_set", "severity"), [(5, "withheld"), (RULE_SET, None)])
def test_the_looks_of_an_older_rule_set_are_not_called_forged(rule_set, severity):
    """Its intervals were others, so no look of it can be derived again; nor is it believed."""
    judged = edited_look(0, width=LOOKED.plan.stopping.looks[0].width / 2)
    older = judged.replace(gate=GateBlock(rule_set=rule_set, verdict="admissible"))
    assert [finding.severity for finding in ask("LOOKS_CONTRADICTED", older)] == [severity]


def test_a_run_ends_where_a_look_says_so():
    assert found(edited_look(1, decision="go_on")) == ["go_on", "go_on"]
    assert found(edited_look(0, decision="narrow")) == ["narrow", "narrow"]
    wide_enough = edited(width=5.0)
    assert found(wide_enough) == ["go_on", "no_more"]
    assert found(looked_at(RUN, PLANNED.replace(width=5.0))) == ["narrow"]


def test_a_width_that_was_asked_for_is_in_the_plan():
    preset = RUN.preset.replace(overrides=("until_width=0.01",))
    hidden = RUN.replace(preset=preset)
    assert [one.field for one in ask("PLAN_CONTRADICTED", hidden)] == ["preset.overrides"]
    assert ask("PLAN_CONTRADICTED", LOOKED.replace(preset=preset)) == []
    argv = ("k3", "eval", "--preset", "code", "--until-width", "0.2", "--budget", "900", "--processes", "3")
    other = LOOKED.replace(provenance=LOOKED.provenance.replace(argv=argv))
    assert [one.found for one in ask("PLAN_CONTRADICTED", other)] == ["0.2"]
