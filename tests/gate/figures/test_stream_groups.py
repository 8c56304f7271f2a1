"""Prompts that were answered alike are one group, whatever their groups were called."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.figures.stream_groups import MAX_ALIKE, MOST_PROMPTS, alike, merge_alike, shingles
from reports.report import load_report

EVIDENCE = Path(__file__).resolve().parents[3] / "reports" / "evidence"
stream = st.lists(st.integers(0, 30), max_size=40)
prompts = st.lists(st.tuples(st.sampled_from("abcdef"), stream), min_size=1, max_size=8)


def parts(made: list[tuple[str, list[int]]]) -> tuple[dict[int, str], dict[int, list[int]]]:
    return {place: group for place, (group, _) in enumerate(made)}, {place: ids for place, (_, ids) in enumerate(made)}


def partition(groups: dict[int, str]) -> set[frozenset[int]]:
    """Which prompts are together, whatever it is called."""
    return {frozenset(prompt for prompt, name in groups.items() if name == one) for one in groups.values()}


@given(prompts)
def test_groups_are_only_ever_joined_and_keep_the_first_name(made: list[tuple[str, list[int]]]) -> None:
    groups, streams = parts(made)
    merged = merge_alike(groups, streams)
    assert merged.keys() == groups.keys()
    for whole in partition(groups):
        assert len({merged[prompt] for prompt in whole}) == 1
    for whole in partition(merged):
        assert {merged[prompt] for prompt in whole} == {min(groups[prompt] for prompt in whole)}


@given(prompts)
def test_streams_of_different_groups_that_are_left_apart_are_not_alike(made: list[tuple[str, list[int]]]) -> None:
    groups, streams = parts(made)
    merged = merge_alike(groups, streams)
    for one in groups:
        for other in groups:
            close = alike(shingles(streams[one]), shingles(streams[other])) > MAX_ALIKE
            assert merged[one] == merged[other] or not close


@given(prompts, st.randoms())
def test_the_order_of_the_prompts_does_not_matter(made: list[tuple[str, list[int]]], rng: object) -> None:
    groups, streams = parts(made)
    order = list(groups)
    rng.shuffle(order)  # type: ignore[attr-defined]
    moved = merge_alike(
        {new: groups[old] for new, old in enumerate(order)}, {n: streams[o] for n, o in enumerate(order)}
    )
    assert {old: moved[new] for new, old in enumerate(order)} == merge_alike(groups, streams)


@given(prompts)
def test_merging_again_changes_nothing(made: list[tuple[str, list[int]]]) -> None:
    groups, streams = parts(made)
    merged = merge_alike(groups, streams)
    assert merge_alike(merged, streams) == merged


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 60))
def test_a_stream_is_like_its_own_beginning(tokens: list[int], count: int) -> None:
    if min(count, len(tokens)) < 3 and count < len(tokens):
        count = len(tokens)
    assert alike(shingles(tokens), shingles(tokens[:count])) == 1.0
    assert len(set(merge_alike({0: "a", 1: "b"}, {0: tokens, 1: tokens[:count]}).values())) == 1


def test_likeness_is_passed_on() -> None:
    streams = {0: [1, 2, 3, 4, 5], 1: [3, 4, 5, 6, 7], 2: [5, 6, 7, 8, 9]}
    assert alike(shingles(streams[0]), shingles(streams[2])) == 0
    assert set(merge_alike({0: "a", 1: "b", 2: "c"}, streams).values()) == {"a"}


def test_without_tokens_nothing_is_alike() -> None:
    assert merge_alike({0: "a", 1: "b"}, {0: [], 1: []}) == {0: "a", 1: "b"}
    assert merge_alike({0: "a", 1: "b"}, {}) == {0: "a", 1: "b"}


def test_more_prompts_than_any_preset_asks_are_one_group() -> None:
    groups = {prompt: f"g{prompt}" for prompt in range(MOST_PROMPTS + 1)}
    assert set(merge_alike(groups, {}).values()) == {"g0"}


@pytest.mark.parametrize("name", ["code-dflash-smollm2", "code-dflash-tiny"])
def test_prompts_of_one_template_are_found_to_be_one_group_in_the_committed_reports(name: str) -> None:
    """Six templates in turn: prompts 0 and 6 are of one, and were answered alike."""
    report = load_report(EVIDENCE / f"{name}.json")
    oracle = next(arm for arm in report.arms if arm.role == "oracle")
    streams = {row.sample: row.token_ids or () for row in oracle.measurements}
    merged = merge_alike({sample: f"prompt {sample:02}" for sample in streams}, streams)
    assert partition(merged) == partition({sample: str(sample % 6) for sample in streams})
