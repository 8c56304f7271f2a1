import pytest

from tests.gate.asking import ask
from tests.gate.edits import set_first_row
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


@pytest.mark.parametrize("text", ["yes " * 9, "a\n" * 8 + "b", "x" * 64])
def test_a_collapsed_text_of_an_arm_under_test(text):
    report = set_first_row(CODE, "fused_ngram", text=text)
    assert [finding.sample for finding in ask("OUTPUT_DEGENERATE", report)] == [0]
    assert not ask("OUTPUT_DEGENERATE", set_first_row(CODE, "oracle", text=text))


@pytest.mark.parametrize(("unit", "times", "fires"), [((5,), 8, True), ((5,), 7, False), ((5, 6, 7, 8), 8, True)])
def test_tokens_collapse_whatever_their_text_was_made_to_say(unit, times, fires):
    report = set_first_row(CODE, "fused_ngram", token_ids=(1, 2, 3, *unit * times), text="sound")
    assert [finding.field for finding in ask("OUTPUT_DEGENERATE", report)] == (["token_ids"] if fires else [])
