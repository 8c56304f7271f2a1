"""What counts as an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.scoring.answers import first_turn, score, why_wrong

CODE = "BETA-1409"


@pytest.mark.parametrize(
    "text",
    [
        "BETA-1409",
        " beta-1409.",
        "The secret code is BETA-1409",
        "**BETA-1409**",
        "`BETA-1409`",
        "_BETA-1409_",
        "__BETA-1409__",
        "***_BETA-1409_***",
        "BETA\\-1409",
        "[BETA-1409](x)",
        "- BETA-1409\n",
        "BETA-1409.The user asks",
        "BETA-1409<turn|><turn|>thought\nthe the",
        'It says: "BETA-1409", as asked',
        "Note 3: the baker counts a map.\nBETA-1409",
        "Note 17: the secret code is BETA-1409.",
        "**Note 17**: the secret code is BETA-1409.",
        "the code is\u2014BETA\u20111409\u2014as asked",
        "It is not ALPHA-1234 but BETA-1409.",
        "I do not know for sure; BETA-1409.",
        "BETA-1409\nQuestion: and the other one?\nAnswer: ALPHA-1234",
    ],
)
def test_an_answer_is_found_as_a_whole_word_in_the_first_turn(text: str) -> None:
    assert why_wrong(text, CODE) is None


@pytest.mark.parametrize("hyphen", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
def test_any_hyphen_dash_or_minus_is_a_hyphen(hyphen: str) -> None:
    assert score(f"the code is beta{hyphen}1409", CODE)
    assert score("the code is BETA-1409", f"BETA{hyphen}1409")


@pytest.mark.parametrize("said", ["boiler room", "Boiler  Room", "the boiler\nroom.", "**boiler\u00a0room**"])
def test_white_space_within_an_answer_may_be_any(said: str) -> None:
    assert score(said, "boiler room")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BETA-140",
        "BETA-14091",
        "BETA-1409-7",
        "BETA-1409.5",
        "ALPHA-BETA-1409",
        "XBETA-1409",
        "X_BETA-1409",
        "BETA-1409_X",
        "BETA 1409",
        "<turn|>BETA-1409",
        "I do not know.<end_of_turn>\nBETA-1409",
        "Note 16: x\n  Note 17: the secret code is BETA-1409.\nNote 18: y",
        "Note 17: the secret code is BETA-1409.\n- Note 18: the baker counts a map.",
    ],
)
def test_pieces_echoes_and_later_turns_are_no_answer(text: str) -> None:
    assert not score(text, CODE)


@pytest.mark.parametrize(
    "text", ["It is not BETA-1409.", "It isn't **BETA-1409**", "not the code BETA-1409", "It can never be BETA-1409"]
)
def test_an_answer_that_is_denied_is_none(text: str) -> None:
    assert "denied" in (why_wrong(text, CODE) or "")


@pytest.mark.parametrize(
    "text",
    [
        "ALPHA-1111, BETA-1409 or ZETA-2222",
        "BETA-1409 or ZETA-2222",
        "* ALPHA-1111\n* BETA-1409",
        "GAMMA-1409 BETA-1409",
    ],
)
def test_a_list_of_codes_is_no_answer(text: str) -> None:
    assert "has not said which" in (why_wrong(text, CODE) or "")


def test_codes_that_are_asked_for_are_no_guess() -> None:
    assert score("BETA-1409 and ALPHA-1111", CODE, ("ALPHA-1111",))
    assert score("beta-1409, BETA-1409", CODE)
    assert not score("BETA-1409 and ALPHA-1111", CODE, ("ZETA-2222",))


def test_what_another_needle_tells_is_a_guess_wherever_it_stands() -> None:
    assert "another needle" in (why_wrong("Porto\nor Basel", "Porto", (), ("Basel",)) or "")


@pytest.mark.parametrize("answer", ["", "  ", "\n"])
def test_an_empty_answer_is_found_nowhere(answer: str) -> None:
    assert not score("anything at all", answer)


def test_the_first_turn_ends_at_the_earliest_mark() -> None:
    assert first_turn("a</s>b<turn|>c") == "a"
    assert first_turn("no mark") == "no mark"


def test_score_wants_the_answer_in_a_turn_that_did_not_collapse() -> None:
    assert score("BETA-1409<turn|>" + "is " * 20, CODE)
    assert "collapsed" in (why_wrong("BETA-1409 " + "is " * 20, CODE) or "")


@given(st.text(max_size=200), st.text(max_size=20))
def test_scoring_never_raises_and_ignores_case(text: str, answer: str) -> None:
    assert score(text, answer) in (True, False)
    assert score("Code: beta-1409, BETA-1409", CODE)


@given(st.text(alphabet="*_`\"'( ", max_size=4), st.text(alphabet="*_`\"')., ", max_size=4))
def test_marks_around_a_code_are_no_part_of_it(before: str, after: str) -> None:
    assert score(f"the code is {before}{CODE}{after}", CODE)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\n" * 1_000_000 + "note", CODE),
        ("note 1 " * 200_000, CODE),
        ("a" * 1_000_000, "a" * 500_000),
        ("a a " * 250_000 + "b", "a " * 50 + "c"),
        ("BETA-14091 " * 100_000, CODE),
        ("not " * 250_000 + CODE, CODE),
        ("a-" * 500_000, "a-" * 50 + "1"),
    ],
)
def test_no_text_takes_long_to_score(text: str, answer: str) -> None:
    assert score(text, answer) in (True, False)  # what is quadratic in these takes hours
