"""Between text and tokens."""

from tests.tokenizers_for_tests import model_text
from workloads.base import StopPolicy, Turn


def test_chat_where_there_is_a_template_and_completion_elsewhere() -> None:
    assert model_text(chat=True).style("auto") == "chat"
    assert model_text(chat=False).style("auto") == "completion"
    assert model_text(chat=True).style("completion") == "completion"


def test_the_answer_ends_at_the_first_turn_end() -> None:
    text = model_text()
    tokens = text.encode("BETA-1409<|im_end|>\nKAPPA-7731<|endoftext|>")
    assert text.answer_text(tokens) == "BETA-1409"


def test_stop_tokens_carry_their_reason_and_are_empty_when_the_budget_is_decoded() -> None:
    text = model_text()
    (end,) = text.encode("<|endoftext|>")
    (turn,) = text.encode("<|im_end|>")
    assert text.stop_tokens(StopPolicy()) == {end: "eos", turn: "turn_end"}
    assert text.stop_tokens(StopPolicy(ignore_turn_stop=True)) == {}


def test_a_special_token_in_a_prompt_is_one_token_and_none_is_added() -> None:
    text = model_text()
    tokens = text.encode(text.chat_text([Turn("user", "hello")]))
    assert text.encode("<|im_start|>")[0] == tokens[0]
    assert text._tokenizer.decode(tokens) == text.chat_text([Turn("user", "hello")])
