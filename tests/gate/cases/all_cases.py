"""The cases of all rules, by code."""

from functools import cache

from tests.gate.cases import (
    bounds,
    claims,
    conduct,
    files,
    kv_quant,
    liveness,
    memory,
    parity,
    plan,
    provenance,
    recall,
    replay,
    speedup,
    streams,
)
from tests.gate.rule_case import RuleCase

FAMILIES = (
    bounds, claims, conduct, files, kv_quant, liveness, memory, parity, plan, provenance, recall, replay, speedup,
    streams,
)  # fmt: skip


@cache
def all_cases() -> dict[str, RuleCase]:
    """Every case, each under the code of the rule that its bad report breaks."""
    found = {code: case for family in FAMILIES for code, case in family.CASES.items()}
    assert len(found) == sum(len(family.CASES) for family in FAMILIES)
    return found
