"""Doctored reports do not pass: a few hundred of them, in every known way; `nox -s doctoring` makes 10,000.

A doctored report may not print a headline that its run does not carry, neither as it was edited nor with claims and
gate block derived again. What a file alone cannot show is listed, and the list is held to in both directions.
"""

import random
from pathlib import Path

import pytest

from gate.judging.judge import conclude, judge
from tests.gate.doctoring.bases import BASES, base
from tests.gate.doctoring.campaign import alone, cases, run_case, truth_about
from tests.gate.doctoring.codec_edits import BAD, COMPARED, GOOD
from tests.gate.doctoring.doctoring import FAMILIES, all_doctorings
from tests.gate.doctoring.survivors import REASONS, SURVIVORS
from tests.gate.doctoring.tally import Tally, told

KINDS = all_doctorings()
DOCS = Path(__file__).parents[2] / "docs" / "gate.md"


def test_there_are_many_kinds_and_each_says_what_it_does():
    assert len(KINDS) >= 40
    assert {one.family for one in KINDS} == set(FAMILIES)
    for one in KINDS:
        assert one.what.endswith("."), one.name
        assert (one.edit is None) != (one.document is None), one.name


@pytest.mark.parametrize("number", range(BASES))
def test_no_honest_report_is_refused(number):
    report = conclude(base(number).measured)
    assert judge(report).violations == ()
    assert judge(report).verdict == "admissible"
    truth = truth_about(number, ())
    assert truth is not None
    assert truth.untrue(report, "admissible", judge(report).headlines) == ()


@pytest.mark.parametrize("one", [kind for kind in KINDS if kind.name not in SURVIVORS], ids=lambda one: one.name)
def test_a_doctored_report_is_caught_or_says_no_more_than_its_run(one):
    outcomes = list(alone(one, 1))
    assert outcomes
    for outcome in outcomes:
        assert not outcome.survived, told(outcome)
        assert not outcome.crashed, told(outcome)


@pytest.mark.parametrize("one", [kind for kind in KINDS if kind.name in SURVIVORS], ids=lambda one: one.name)
def test_a_listed_survivor_gets_through_and_is_unlisted_when_it_does_not(one):
    assert any(outcome.survived for outcome in alone(one, BASES))


def test_codecs_of_a_real_run_are_doctored_whatever_they_are_called():
    report = next(base(number).measured for number in range(BASES) if base(number).kind == "kv_quant")
    names = {GOOD: "hadamard-e8-4", BAD: "d4-4"}
    arms = tuple(arm.replace(name=names.get(arm.name, arm.name)) for arm in report.kv_quant.arms)
    real = report.replace(kv_quant=report.kv_quant.replace(arms=arms, verdicts=()))
    for one in KINDS:
        if one.name in ("shrink_errors_throughout", "shrink_stored_bytes_throughout"):
            edited = one.edit(real, random.Random(one.name))
            pairs = zip(edited.kv_quant.arms, arms, strict=True)
            (changed,) = (arm.name for arm, measured in pairs if arm != measured)
            assert changed not in COMPARED


def test_pairs_get_through_only_with_a_listed_one():
    tally = Tally()
    for outcome in cases(seed=7, count=100, pairs=1.0):
        assert len(outcome.doctorings) == 2
        tally.add(outcome)
    assert [told(outcome) for outcome in tally.unlisted + tally.crashed] == []
    assert tally.caught > 50


def test_reasons_are_told_in_the_documentation():
    section = DOCS.read_text(encoding="utf-8").split("## What the gate cannot know")[1]
    assert set(SURVIVORS) <= {one.name for one in KINDS}
    assert len(SURVIVORS) == sum(len(reason.doctorings) for reason in REASONS)
    for reason in REASONS:
        assert f"**{reason.title}.**" in section


def test_a_case_is_the_same_every_time():
    first, second = (run_case(1, (KINDS[3],), random.Random(3)) for _ in range(2))
    assert first == second
    assert [told(one) for one in cases(seed=2, count=5)] == [told(one) for one in cases(seed=2, count=5)]
