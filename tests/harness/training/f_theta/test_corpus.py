"""The texts an f_theta is fitted to: a row that depends on seed and index alone."""

import re

import pytest

from harness.training.corpus import TrainingText
from harness.training.f_theta.corpus import CUT, FThetaTexts
from tests.tokenizers_for_tests import model_text
from workloads.code import TEMPLATES, group_of
from workloads.niah import GROUP

CODE = re.compile(r"the secret code is [A-Z]+-\d{4}\.")


def decoded(texts: FThetaTexts, index: int) -> str:
    return str(model_text().decode(texts.text(index).tokens))


def test_a_text_depends_on_seed_and_index_alone() -> None:
    texts = FThetaTexts(3, 20, "chat", model_text())
    assert texts.text(5) == FThetaTexts(3, 20, "chat", model_text()).text(5)
    assert texts.text(5) != texts.text(6)
    assert texts.text(5) != FThetaTexts(4, 20, "chat", model_text()).text(5)


@pytest.mark.parametrize("style", ["chat", "completion"])
def test_haystacks_hold_codes_and_answer_with_one_of_theirs(style: str) -> None:
    texts = FThetaTexts(3, 20, style, model_text())  # type: ignore[arg-type]
    for index in range(4):
        text = decoded(texts, index)
        assert CODE.search(text)
        assert text.count(text.rstrip(".").split()[-1]) >= 2


def test_one_text_in_five_is_code_and_another_the_users() -> None:
    own = tuple(range(3, 40)) * 60
    texts = FThetaTexts(3, 20, "chat", model_text(), (TrainingText(own, "own/a.txt"),))
    assert "secret code" not in decoded(texts, 4)
    cut = texts.text(3)
    assert len(cut.tokens) == CUT
    assert any(own[start : start + CUT] == cut.tokens for start in range(37))
    groups = [texts.text(index).group for index in (3, 4, 5)]
    assert groups[0] == "own/a.txt"
    assert groups[1] in {group_of(template) for template in TEMPLATES}
    assert groups[2] == GROUP
