"""Rules of plug-ins: whatever they do, they withhold more or nothing, and the gate judges to its end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from gate.judging.judge import Judgement, conclude, judge
from gate.judging.rule_set import all_rules, find_rule, known_rules
from reports.report import Report
from tests.gate.honest import Setup, measured_niah
from tests.plugged_in import plugged_in, write_package

CODE = """
from gate.rulebook.rule import ALL_METRICS, Example, Finding, Rule

def evidence(view):
    {body}

def claim(view, claim):
    {body}

def made(code="their-rules:own", **changes):
    settings = dict(code=code, title="t", catches="c", why="w", fix="f", since=1, severity="invalid",
                    blocks=ALL_METRICS, example=Example("b", "g"), {check}={check})
    return Rule(**settings | changes)

OWN = {rule}
"""
Install = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    @contextmanager
    def installed(body: str = "yield from ()", check: str = "evidence", rule: str = "made()") -> Iterator[None]:
        code = CODE.format(body=body, check=check, rule=rule)
        write_package(tmp_path, "their-rules", code, {"rules": {"own": "OWN"}})
        try:
            with plugged_in(tmp_path):
                yield
        finally:
            sys.modules.pop("their_rules", None)

    return installed


@pytest.fixture(scope="module")
def report() -> Report:
    return conclude(measured_niah(Setup(samples=5, repeats=1)))


def admitted(judgement: Judgement) -> set[str]:
    return {claim.name for claim in judgement.claims if claim.status == "admitted"}


BODIES = {
    "finds nothing": "yield from ()",
    "finds": "yield Finding('a row is odd', field='x', found='1', allowed='2')",
    "finds one claim's": "yield Finding('odd', claim=view.report.claims[0].name, severity='invalid')",
    "no finding": "yield 'odd'",
    "no text": "yield Finding(['odd'])",
    "raises": "raise ValueError('no idea')",
    "exits": "raise SystemExit(0)",
    "returns nothing": "return None",
    "spoils what others share": "view.memo.clear(); view.__dict__.update(oracle=None, arms={}); yield from ()",
}


@pytest.mark.parametrize("check", ["evidence", "claim"])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_nothing_more_is_admitted_and_nothing_is_called_invalid(
    install: Install, report: Report, body: str, check: str
) -> None:
    before = judge(report)
    with install(body, check):
        found = judge(report)
    assert admitted(found) <= admitted(before) != set()
    assert found.verdict in ("withheld", "admissible")
    codes = {violation.code for violation in found.violations}
    assert codes <= {"their-rules:own"}
    if body in (BODIES["finds nothing"], BODIES["spoils what others share"]):
        assert (admitted(found), found.verdict) == (admitted(before), before.verdict)
    else:
        assert (found.verdict, codes) == ("withheld", {"their-rules:own"})
        assert admitted(found) < admitted(before)


@pytest.mark.parametrize(
    "rule",
    ["made(code='DIRTY_TREE')", "made(evidence=None)", "made(blocks=())", "made(title=None)", "1 / 0", "'no rule'"],
)
def test_one_that_cannot_be_used_withholds_everything_in_one_line(install: Install, report: Report, rule: str) -> None:
    with install(rule=rule):
        found = judge(report)
        assert find_rule("DIRTY_TREE") in all_rules()
        assert [rule.code for rule in known_rules()][-1] == "their-rules:own"
    (violation,) = found.violations
    assert (violation.code, found.verdict, admitted(found)) == ("their-rules:own", "withheld", set())
    assert violation.message.startswith("plug-in k3.rules their-rules:own 1.2: ")
    assert "\n" not in violation.message


def test_what_it_withheld_stays_withheld_where_it_is_not_installed(install: Install, report: Report) -> None:
    with install(BODIES["finds"]):
        concluded = conclude(report)
        assert all("their-rules:own" in claim.withheld_by for claim in concluded.claims)
    without = judge(concluded)
    assert without.verdict == "admissible"
    assert admitted(without) == set()
    assert not without.violations
