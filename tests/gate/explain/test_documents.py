import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gate
from gate.explain.documents import DOCUMENT, rules_markdown
from gate.explain.examples import EXAMPLES
from gate.explain.limits import limits_of
from gate.explain.story import document, facts, markdown_story, text_story
from gate.judging.judge_evidence import LEGACY_SCHEMA, RETRACTED, SCHEMA_INVALID, UNREADABLE
from gate.judging.rule_set import all_rules, find_rule
from gate.rulebook import thresholds
from gate.rulebook.rule import Rule
from reports import scoring

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


def test_every_rule_has_an_example_and_every_example_a_rule() -> None:
    assert set(EXAMPLES) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_story_is_complete(code: str) -> None:
    told = dict(facts(rule(code)))
    assert {"Catches", "Why", "Fix", "Blocks", "Severity", "Since", "Bad", "Good"} <= set(told)
    assert all(text and text.isprintable() for text in told.values())
    assert EXAMPLES[code].bad != EXAMPLES[code].good
    assert text_story(rule(code)).startswith(f"{code}: ")
    assert "<" not in markdown_story(rule(code))
    assert document(rule(code))["bad"] == EXAMPLES[code].bad


def test_findings_outside_a_report_have_rules() -> None:
    for code in (LEGACY_SCHEMA, RETRACTED, SCHEMA_INVALID, UNREADABLE):
        assert rule(code).evidence is None
        assert rule(code).claim is None


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("SPEEDUP_SAMPLES", "MIN_SPEEDUP_SAMPLES"),
        ("SPEEDUP_REPEATS", "MIN_REPEATS"),
        ("SPEEDUP_DECODE_TOKENS", "MIN_DECODE_TOKENS"),
        ("ORACLE_RECALL_LOW", "ORACLE_RECALL_FLOOR"),
        ("MODEL_UNFAITHFUL", "MIN_ARGMAX_AGREEMENT"),
        ("OUTPUT_DEGENERATE", "DEGENERATE_REPEATS"),
    ],
)
def test_a_rule_names_the_threshold_it_uses(code: str, name: str) -> None:
    limits = {limit.name: limit for limit in limits_of(rule(code))}
    assert limits[name].value == vars(scoring if name in vars(scoring) else thresholds)[name]
    assert limits[name].meaning


def test_every_threshold_is_told_by_some_rule() -> None:
    told = {limit.name for each in all_rules() for limit in limits_of(each)}
    assert {name for name in vars(thresholds) if name.isupper()} <= told


def test_every_module_of_the_gate_can_be_imported() -> None:
    for module in pkgutil.walk_packages(gate.__path__, "gate."):
        importlib.import_module(module.name)
