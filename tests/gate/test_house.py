"""What the contracts of import-linter cannot say of the gate: which modules hold rules."""

from pathlib import Path

import pytest

import gate
from gate.judging.rule_set import all_rules
from tests.test_architecture import imports

GATE = Path(gate.__file__).parent
HOMES = {(rule.evidence or rule.claim).__module__ for rule in all_rules() if rule.evidence or rule.claim}
"""Modules that hold a rule."""


@pytest.mark.parametrize("path", sorted((GATE / "rules").rglob("*.py")), ids=lambda path: path.stem)
def test_what_rules_share_holds_no_rule(path: Path) -> None:
    assert HOMES.isdisjoint(imports(path, top_only=False))
