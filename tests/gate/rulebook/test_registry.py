"""Rules are declared once, completely, and their codes are never reused."""

import pytest

from gate.judging.rule_set import all_rules, find_rule
from gate.rulebook import registry, retired_codes
from gate.rulebook.registry import evidence_rule, outside_rule
from gate.rulebook.rule import ALL_METRICS, Example

STORY = {"title": "t", "catches": "c", "why": "w", "fix": "f", "example": Example(bad="b", good="g")}


def test_rules_are_sorted_and_unique():
    codes = [rule.code for rule in all_rules()]
    assert codes == sorted(set(codes))
    assert all(find_rule(code).code == code for code in codes)
    assert find_rule("NO_SUCH_RULE") is None


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_tells_its_whole_story(rule):
    for part in (rule.title, rule.catches, rule.why, rule.fix):
        assert part.strip() == part != ""
    assert "\n" not in rule.title
    assert rule.since >= 1
    assert rule.evidence is None or rule.claim is None
    assert set(rule.blocks) <= set(ALL_METRICS)
    check = rule.evidence or rule.claim
    assert check is None or check.__doc__


def test_a_code_is_taken_once(monkeypatch):
    monkeypatch.setattr(registry, "_rules", {})
    outside_rule("TAKEN", severity="withheld", **STORY)
    with pytest.raises(ValueError, match="TAKEN is taken"):
        evidence_rule("TAKEN", **STORY)(lambda view: iter(()))


def test_a_retired_code_stays_reserved(monkeypatch):
    monkeypatch.setattr(registry, "_rules", {})
    monkeypatch.setitem(retired_codes.RETIRED_CODES, "GONE", "it said the same as another")
    with pytest.raises(ValueError, match="never reused"):
        outside_rule("GONE", severity="withheld", **STORY)
