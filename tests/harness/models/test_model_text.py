"""Between text and tokens."""

import copy

import pytest

from harness.base.errors import ModelError
from harness.models.model_text import ModelText
from tests.tokenizers_for_tests import CHAT_TEMPLATE, model_text, trained
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


def text_of(template: object) -> ModelText:
    tokenizer = copy.deepcopy(trained(chat=True))
    tokenizer.chat_template = template
    return ModelText(tokenizer)


TRIMMED = "{{ eos_token }}{% for m in messages %}{{ m.content | trim }}{% endfor %}"


@pytest.mark.parametrize("kept", [CHAT_TEMPLATE, TRIMMED])
def test_a_template_is_rendered_apart_as_the_tokenizer_itself_does(kept: str) -> None:
    turns = [Turn("user", "hello "), Turn("assistant", "yes"), Turn("user", " Ωmega, 2 %\n")]
    text = text_of(kept)
    messages = [turn._asdict() for turn in turns]
    itself = text._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text.chat_text(turns) == itself


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('system first') }}", "system first"),
        ("{% for m in messages %}{{ m", "TemplateSyntaxError"),
        ("silence", "leaves out what is asked"),
        ({"tools": "x"}, "multiple chat templates with no default"),
        (7, "Error"),
    ],
)
def test_a_template_that_cannot_be_used_names_the_way_without_it(template: object, reason: str) -> None:
    with pytest.raises(ModelError, match=r"--set workload\.prompt_style=completion") as caught:
        text_of(template).chat_text([Turn("user", "hello")])
    assert isinstance(caught.value, ValueError)  # of whose turns, a workload may know
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_token_that_the_model_has_no_row_for_is_refused() -> None:
    assert ModelText(trained(chat=True), vocab=400).encode("hello")
    with pytest.raises(ModelError, match=r"gives token \d+ to a model of 3 tokens"):
        ModelText(trained(chat=True), vocab=3).encode("hello")


def test_a_tokenizer_that_raises_is_told_in_one_line() -> None:
    text = model_text()
    with pytest.raises(ModelError, match="its tokenizer: "):
        text.encode(5)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="its tokenizer: "):
        text.decode([-1])
