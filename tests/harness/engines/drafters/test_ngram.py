"""Prompt lookup against a search of the whole stream."""

from hypothesis import given
from hypothesis import strategies as st

from harness.engines.drafters.ngram import NgramDrafter
from harness.engines.drafters.suffixes import SuffixIndex

STREAMS = st.lists(st.integers(0, 3), min_size=1, max_size=30)


def by_search(stream: list[int], limit: int) -> list[int]:
    """The same by definition: longest suffix first, latest earlier occurrence, copied token by token."""
    for length in (3, 2, 1):
        suffix = stream[-length:]
        for end in range(len(stream) - 1, length - 1, -1):
            if len(suffix) == length and stream[end - length : end] == suffix:
                whole = list(stream)
                for _ in range(limit):
                    whole.append(whole[end + len(whole) - len(stream)])
                return whole[len(stream) :]
    return []


@given(STREAMS, st.integers(1, 12))
def test_the_index_finds_what_a_search_finds(stream: list[int], limit: int) -> None:
    index = SuffixIndex()
    index.extend(stream[:-1])
    assert index.continuation(stream[-1], limit) == by_search(stream, limit)


@given(STREAMS, st.integers(0, 30))
def test_it_does_not_matter_how_the_stream_was_cut(stream: list[int], cut: int) -> None:
    whole, parts = SuffixIndex(), SuffixIndex()
    whole.extend(stream)
    parts.extend(stream[:cut])
    parts.extend(stream[cut:])
    assert len(whole) == len(parts) == len(stream)
    assert whole.continuation(1, 8) == parts.continuation(1, 8)


def test_the_latest_match_of_the_longest_suffix_wins() -> None:
    index = SuffixIndex()
    index.extend([1, 2, 3, 7, 9, 2, 3, 8, 1, 2])
    assert index.continuation(3, 2) == [7, 9]
    index.extend([3, 5, 1, 2])
    assert index.continuation(3, 2) == [5, 1]


def test_a_repeat_is_proposed_beyond_its_own_end() -> None:
    index = SuffixIndex()
    index.extend([4, 5, 4])
    assert index.continuation(5, 5) == [4, 5, 4, 5, 4]


def test_what_it_proposes_and_takes_in_is_counted() -> None:
    draft = NgramDrafter().begin()
    draft.extend([1, 2, 1], None)
    assert draft.propose(9, 4) == []
    assert draft.propose(2, 2) == [1, 2]
    assert draft.propose(2, 0) == []
    assert (draft.counters.proposals, draft.counters.proposed, draft.counters.context) == (1, 2, 3)
