"""The layout against the sentence it implements, for every query of prompt and decode."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engines.bounded.layout import CacheLayout, ChunkPlan, LayerRule, visible

RULES = st.builds(
    LayerRule,
    policy=st.sampled_from(["keep", "restore", "drop"]),
    sink=st.integers(0, 6),
    window=st.integers(1, 20),
    native_window=st.none() | st.integers(2, 24),
)


def sees_own(rule: LayerRule, query: int, position: int) -> bool:
    native = rule.native_window is None or query - position < rule.native_window
    near = position < rule.sink or query - position <= rule.window
    return position <= query and native and (near or rule.policy == "keep")


def sees_restored(rule: LayerRule, query: int, position: int) -> bool:
    native = rule.native_window is None or query - position < rule.native_window
    return rule.policy == "restore" and native and position >= rule.sink and query - position > rule.window


def seen_by(rule: LayerRule, plan: ChunkPlan) -> dict[int, tuple[set[int], set[int]]]:
    """By query: positions whose own K/V it sees, and those it sees restored."""
    mask = visible(rule, plan)
    held = [int(position) for position in plan.held]
    columns = held + list(plan.evicted)
    result = {}
    for row, query in enumerate(range(plan.first, plan.first + plan.length)):
        if mask is None:
            marked = [index for index, position in enumerate(held) if position <= query]
        else:
            marked = [int(index) for index in np.flatnonzero(mask[row])]
        restored = {
            columns[index]
            for index in marked
            if index >= len(held) or (rule.policy == "restore" and rule.sink <= columns[index] < plan.restored_before)
        }
        own = {columns[index] for index in marked if index < len(held)} - restored
        assert len(own) + len(restored) == len(marked)
        result[query] = own, restored
    return result


@given(RULES, st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_every_query_of_the_prompt_sees_what_the_rule_says(rule: LayerRule, chunks: list[int]) -> None:
    layout = CacheLayout(rule, evicting=True)
    for length in chunks:
        for query, (own, restored) in seen_by(rule, layout.plan_chunk(length)).items():
            expected_own = {p for p in range(query + 1) if sees_own(rule, query, p)}
            expected_restored = {p for p in range(query + 1) if sees_restored(rule, query, p)}
            if rule.evicts:
                assert (own, restored) == (expected_own, expected_restored)
            else:
                assert own == {
                    p for p in range(query + 1) if sees_own(LayerRule("keep", 0, 0, rule.native_window), query, p)
                }


@given(RULES, st.integers(1, 40), st.booleans(), st.integers(1, 40))
def test_a_decode_step_holds_exactly_what_its_query_sees(
    rule: LayerRule, prompt: int, strict: bool, steps: int
) -> None:
    layout = CacheLayout(rule, evicting=strict)
    held = apply_chunk(layout.plan_chunk(prompt))
    if not strict:
        held = apply_chunk(layout.plan_eviction())
    for query in range(prompt, prompt + steps):
        plan = layout.plan_step()
        if plan.compact is not None:
            held = [held[slot] for slot in plan.compact]
        held += [-1] * (plan.capacity - len(held))
        held[plan.slot] = query
        effective = rule if rule.evicts else LayerRule("keep", 0, 0, rule.native_window)
        expected = {p for p in range(query + 1) if sees_own(effective, query, p) or sees_restored(effective, query, p)}
        assert set(held[: plan.used]) == expected
        assert plan.used == len(expected)
        assert rule.capacity is None or plan.capacity <= rule.capacity


def apply_chunk(plan: ChunkPlan) -> list[int]:
    held = [int(position) for position in plan.held]
    assert held[plan.evicted_slot : plan.evicted_slot + len(plan.evicted)] == list(plan.evicted)
    return held if plan.kept is None else [held[slot] for slot in plan.kept]


@given(RULES, st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(0, 30))
def test_a_position_is_evicted_once_and_at_its_time(rule: LayerRule, chunks: list[int], steps: int) -> None:
    layout = CacheLayout(rule, evicting=True)
    evicted: list[int] = []
    for length in chunks:
        plan = layout.plan_chunk(length)
        apply_chunk(plan)
        evicted += plan.evicted
    for _ in range(steps):
        step = layout.plan_step()
        evicted += [] if step.evicted is None else [step.evicted]
    last_read = layout.next if not steps else layout.next - 1
    expected = range(rule.sink, max(rule.sink, last_read - rule.window)) if rule.evicts else range(0)
    assert evicted == list(expected)


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(1, 60))
def test_what_the_native_window_expires_is_never_evicted(native: int, length: int) -> None:
    rule = LayerRule("drop", 4, native, native_window=native)
    assert not rule.evicts
    assert CacheLayout(rule, evicting=True).plan_chunk(length).evicted == range(4, 4)


def test_no_mask_where_a_causal_one_says_the_same() -> None:
    layout = CacheLayout(LayerRule("drop", 4, 64), evicting=True)
    assert visible(layout.rule, layout.plan_chunk(40)) is None


def test_a_mask_is_never_prompt_by_prompt() -> None:
    layout = CacheLayout(LayerRule("drop", 4, 64), evicting=True)
    shapes = {mask.shape for _ in range(20) if (mask := visible(layout.rule, layout.plan_chunk(100))) is not None}
    assert shapes == {(100, 100), (100, 168)}


@pytest.mark.parametrize("policy", ["keep", "restore"])
def test_a_growing_cache_grows_in_steps(policy: str) -> None:
    layout = CacheLayout(LayerRule(policy, 4, 64), evicting=True)  # type: ignore[arg-type]
    layout.plan_chunk(100)
    assert {layout.plan_step().capacity for _ in range(300)} == {356, 612}


@given(RULES, st.integers(1, 40), st.integers(1, 40))
def test_a_step_foretells_what_leaves_at_the_next(rule: LayerRule, prompt: int, steps: int) -> None:
    layout = CacheLayout(rule, evicting=True)
    layout.plan_chunk(prompt)
    plan = layout.plan_step()
    assert plan.evicted is None
    for _ in range(steps):
        foretold, plan = plan.leaving, layout.plan_step()
        assert foretold == (None if plan.evicted is None else (plan.evicted, plan.evicted_slot))
