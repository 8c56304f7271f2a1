"""What counts as an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.scoring import find_answer, first_turn, is_degenerate, score

CODE = "BETA-1409"


@pytest.mark.parametrize(
    "text",
    [
        "BETA-1409",
        " beta-1409.",
        "The secret code is BETA-1409",
        "**BETA-1409**",
        "- BETA-1409\n",
        "BETA-1409.The user asks",
        "BETA-1409<turn|><turn|>thought\nthe the",
        'It says: "BETA-1409", as asked',
        "Note 3: the baker counts a map.\nBETA-1409",
    ],
)
def test_an_answer_is_found_as_a_whole_word_in_the_first_turn(text: str) -> None:
    assert find_answer(text, CODE)


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
        "BETA 1409",
        "<turn|>BETA-1409",
        "I do not know.<end_of_turn>\nBETA-1409",
        "Note 17: the secret code is BETA-1409.",
        "Note 16: x\n  Note 17: the secret code is BETA-1409.\nNote 18: y",
    ],
)
def test_pieces_echoes_and_later_turns_are_no_answer(text: str) -> None:
    assert not find_answer(text, CODE)


@pytest.mark.parametrize("answer", ["", "  ", "\n"])
def test_an_empty_answer_is_found_nowhere(answer: str) -> None:
    assert not find_answer("anything at all", answer)


def test_the_first_turn_ends_at_the_earliest_mark() -> None:
    assert first_turn("a</s>b<turn|>c") == "a"
    assert first_turn("no mark") == "no mark"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["The"] * 8),
        "fine so far\n" * 1 + "The\n" * 8 + "is",
        "\n\n".join(["The"] * 8),
        "The\na\nThe\nb\n" * 4,
        "and is " * 8,
        "BETA-4582 is and is and" + " is and" * 8 + " is a",
        "由于" * 8 + "由",
        "a" * 8,
        "answer" + "\n" * 8,
    ],
)
def test_runaway_repeats_are_degenerate(text: str) -> None:
    assert is_degenerate(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n".join(["The"] * 7),
        "and is " * 7,
        "aaaaaaa",
        "reader = csv.DictReader(f)\n        \n        ",
        "\n".join(["a line of more than forty characters, all of it the same"] * 20) + " end",
        "\n".join(f"line {i}\n}}" for i in range(7)),
        "\n".join(f"def f{i}():\n    x = {i}\n    return x" for i in range(12)),
    ],
)
def test_ordinary_text_is_not(text: str) -> None:
    assert not is_degenerate(text)


def test_score_wants_the_answer_in_a_turn_that_did_not_collapse() -> None:
    assert score("BETA-1409<turn|>" + "is " * 20, CODE)
    assert not score("BETA-1409 " + "is " * 20, CODE)


@given(st.text(max_size=60), st.text(alphabet="is and", min_size=1, max_size=8).filter(str.strip))
def test_any_text_with_a_unit_repeated_eight_times_at_its_tail_is_degenerate(before: str, unit: str) -> None:
    assert is_degenerate(before + "x" + unit.strip() * 8)


@given(st.text(max_size=200), st.text(max_size=20))
def test_finding_never_raises_and_ignores_case(text: str, answer: str) -> None:
    assert find_answer(text, answer) in (True, False)
    assert find_answer("Code: BETA-1409, " + CODE.lower(), CODE)
