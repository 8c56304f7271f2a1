"""Where a text names an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.scoring.named import is_named, others_like, places

SAID = st.text(st.sampled_from("aB1- .\n\u2011\u2014_"), max_size=40).map(str.casefold)
ANSWERS = st.text(st.sampled_from("aB1-\u2011_"), min_size=1, max_size=6)


@given(SAID, ANSWERS)
def test_a_text_that_may_spell_an_answer_in_several_ways_names_it_in_the_same_places(said: str, answer: str) -> None:
    other = said + "\n\\"  # with a backslash in it hyphens may stand behind one, so it is searched by a pattern
    assert list(places(said, answer)) == list(places(other, answer))
    assert list(others_like(said, answer)) == list(others_like(other, answer))


@pytest.mark.parametrize(
    ("answer", "said"), [("-5", "it is \u22125."), ("a  b", "it is a b"), ("x-1", "x\u20111"), ("\u2011a", "say -a")]
)
def test_an_answer_is_found_however_its_hyphens_and_spaces_are_spelt(answer: str, said: str) -> None:
    assert is_named(said, answer)
