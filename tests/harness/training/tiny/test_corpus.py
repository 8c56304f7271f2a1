"""What the tiny verifier is trained on."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from harness.models.model_text import ModelText
from harness.training.tiny import corpus
from harness.training.tiny.corpus import ANSWER, code, haystack, make_batch, notes, source_file, tokenizer_texts
from harness.training.tiny.tokenizer import BOS, EOS, VOCABULARY, open_tiny_tokenizer, train_tokenizer
from workloads.code import NOUNS


@pytest.fixture(name="text", scope="module")
def trained_text(tmp_path_factory: pytest.TempPathFactory) -> ModelText:
    """The tokenizer, trained on a part of its corpus."""
    folder: Path = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(tokenizer_texts(0, count=60), folder)
    return open_tiny_tokenizer(folder)


def answers(text: ModelText, document: corpus.WeightedText) -> str:
    """The text of the tokens that weigh as answers."""
    pairs = zip(document.tokens, document.weights, strict=True)
    return text.decode([token for token, weight in pairs if weight == ANSWER])


def test_the_tokenizer_keeps_digits_single_and_every_text_whole(text: ModelText) -> None:
    assert text.bos == BOS
    assert len(text.encode("1409")) == 4
    for sample in ("the secret code is BETA-1409.", "naïve \u2603 \t\n x", *tokenizer_texts(1, count=2)):
        assert text.decode(text.encode(sample)) == sample
    assert max(text.encode("".join(tokenizer_texts(2, count=3)))) < VOCABULARY


def test_a_batch_depends_on_its_arguments_alone(text: ModelText) -> None:
    first, again = (make_batch(text, 0, 5, 4, 128) for _ in range(2))
    assert np.array_equal(first.tokens, again.tokens)
    assert first.digest("") == again.digest("") != first.digest("x")
    assert not np.array_equal(first.tokens, make_batch(text, 0, 6, 4, 128).tokens)
    assert not np.array_equal(first.tokens, make_batch(text, 1, 5, 4, 128).tokens)


@pytest.mark.parametrize("length", [128, 512])
def test_an_answer_stands_in_the_notes_or_says_that_it_does_not(text: ModelText, length: int) -> None:
    rng, absent = random.Random(3), 0
    for _ in range(40):
        document = haystack(text, rng, length)
        whole, answer = text.decode(document.tokens), answers(text, document)
        assert text.encode(EOS) == [document.tokens[-1]]
        if answer == corpus.NO_ANSWER:
            absent += 1
            assert "the secret code is " not in whole
        else:
            assert f": the secret code is{answer}\n" in whole
    assert 2 <= absent <= 20


def test_each_question_for_a_fact_has_its_answer(text: ModelText) -> None:
    rng = random.Random(4)
    for _ in range(20):
        document = notes(text, rng, 512)
        whole = text.decode(document.tokens)
        questions = [part.splitlines() for part in whole.split("\n\nQuestion: ")[1:]]
        assert questions
        for _, answer in questions:
            stated = answer.removeprefix("Answer: The")
            assert (f" the{stated}" in whole) != stated.endswith(corpus.NO_ANSWER)


def test_names_of_a_file_end_in_the_order_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "TEMPLATES", (lambda names, rng: " ".join(names),))
    rng = random.Random(5)
    for _ in range(30):
        names = source_file(rng, 40).split()
        places = [NOUNS.index(name) for name in names]
        assert len(places) == 40
        assert all((after - before) % len(NOUNS) == 1 for before, after in itertools.pairwise(places[15:]))


def test_code_is_learnt_whole(text: ModelText) -> None:
    document = code(text, random.Random(6), 256)
    assert len(document.tokens) >= 256
    assert set(document.weights) == {1.0}
