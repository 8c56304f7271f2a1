import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gate
from gate.explain.documents import DOCUMENT, rules_markdown
from gate.explain.story import document, markdown_story, rule_story, text_story
from gate.judging.rule_set import all_rules, find_rule
from gate.rulebook.rule import Rule
from gate.rules.files.refused import LEGACY_SCHEMA, RETRACTED, SCHEMA_INVALID, UNREADABLE

ROOT = Path(__file__).resolve().parents[3]
CODES = [rule.code for rule in all_rules()]


def rule(code: str) -> Rule:
    found = find_rule(code)
    assert found is not None
    return found


def test_the_document_is_in_step_with_the_rules() -> None:
    assert (ROOT / DOCUMENT).read_text(encoding="utf-8") == rules_markdown(), "run `python -m gate.explain.documents`"


def test_the_generator_writes_where_it_is_run(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "gate.explain.documents"], cwd=tmp_path, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (tmp_path / DOCUMENT).read_text(encoding="utf-8") == rules_markdown()


@pytest.mark.parametrize("code", CODES)
def test_a_story_is_complete(code: str) -> None:
    told = dict(rule_story(rule(code)))
    assert {"Catches", "Why", "Fix", "Blocks", "Severity", "Since", "Bad", "Good"} <= set(told)
    assert all(text and text.isprintable() for text in told.values())
    assert rule(code).example.bad != rule(code).example.good
    assert text_story(rule(code)).startswith(f"{code}: ")
    assert "<" not in markdown_story(rule(code))
    assert document(rule(code))["bad"] == rule(code).example.bad


@pytest.mark.parametrize("code", CODES)
def test_what_a_rule_blocks_and_how_grave_it_is_agree(code: str) -> None:
    told = dict(rule_story(rule(code)))
    assert "the rest stands" not in told["Severity"]
    if rule(code).severity == "invalid":
        assert "every claim" in told["Blocks"]
        assert "nothing of the report may be quoted" in told["Severity"]


def test_findings_outside_a_report_have_rules() -> None:
    for declared in (LEGACY_SCHEMA, RETRACTED, SCHEMA_INVALID, UNREADABLE):
        assert rule(declared.code) is declared
        assert declared.evidence is None
        assert declared.claim is None


def test_a_story_tells_the_thresholds_of_its_rule() -> None:
    assert document(rule("SPEEDUP_REPEATS"))["thresholds"] == {"MIN_REPEATS": 3}
    told = dict(rule_story(rule("SPEEDUP_REPEATS")))["Threshold"]
    assert told.startswith("MIN_REPEATS = 3 (repeats): ")
    assert "Source: " in told


def test_every_module_of_the_gate_can_be_imported() -> None:
    for module in pkgutil.walk_packages(gate.__path__, "gate."):
        importlib.import_module(module.name)
