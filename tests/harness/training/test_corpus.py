"""A corpus of several kinds of text: shards in turn by their shares, and nothing in them that is held out."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.utils import load_tokenizer

from harness.base.errors import UsageError
from harness.models.model_text import ModelText
from harness.models.resolve import locate
from harness.training.corpus import Corpus, CorpusRecipe, TextKind
from workloads.code import TEMPLATES, group_of
from workloads.documents import Document, is_held_out
from workloads.niah import GROUP

TURN = 6
DIGEST = f"sha256:{'1' * 64}"


def recipe_of(*kinds: TextKind, seed: int = 3) -> CorpusRecipe:
    return CorpusRecipe(
        verifier=DIGEST,
        seed=seed,
        texts=None,
        kinds=kinds,
        new_tokens=8,
        batch=4,
        layers=(0,),
        dtype="float32",
        held_out_seed=42,
        held_out_samples=8,
        held_out_items=2,
    )


MIXED = tuple(
    TextKind.model_validate({"name": name, "seed": seed, "share": share})
    for name, seed, share in (("code", 5, 4), ("templates", 6, 1), ("prose", 7, 1))
)


@pytest.fixture(scope="module")
def text() -> ModelText:
    return ModelText(load_tokenizer(locate("k3-tiny").folder))


@pytest.fixture(scope="module")
def mixed(text: ModelText) -> Corpus:
    return Corpus(recipe_of(*MIXED), text)


def test_shards_take_turns_by_the_shares_of_their_kinds(mixed: Corpus) -> None:
    kinds = [{text.group.partition("/")[0] for text in mixed.shard(index)} for index in range(TURN)]
    assert kinds == [{"stdlib"}] * 4 + [{"synthetic"}] + [{"stdlib"}]
    assert mixed.shard(0) != mixed.shard(1)
    assert mixed.shard(0) != mixed.shard(TURN)


def test_no_template_and_no_document_is_both_trained_on_and_held_out(mixed: Corpus) -> None:
    trained = set(mixed.recipe(TURN * len(TEMPLATES)).groups)
    held = {text.group for text in mixed.held_out()}
    assert {group.partition("/")[0] for group in trained} == {group.partition("/")[0] for group in held}
    assert all(map(is_held_out, held))
    assert not any(map(is_held_out, trained))
    templates = {group for group in trained if group.startswith("synthetic/")}
    assert templates == {group for group in (GROUP, *map(group_of, TEMPLATES)) if not is_held_out(group)}


@settings(max_examples=20, deadline=None)
@given(index=st.integers(0, 2000))
def test_no_shard_of_any_number_holds_what_is_held_out(mixed: Corpus, index: int) -> None:
    assert not any(is_held_out(text.group) for text in mixed.shard(index))


def test_every_kind_is_held_out_alike(mixed: Corpus) -> None:
    held = mixed.held_out()
    assert Counter(text.group.partition("/")[0] for text in held) == {"stdlib": 2 * 8, "synthetic": 8}


def test_a_recipe_older_than_kinds_still_makes_its_text(text: ModelText) -> None:
    groups = Corpus(recipe_of(), text).recipe(len(TEMPLATES) + 1).groups
    assert set(groups) == {GROUP, *map(group_of, TEMPLATES)}, "of every template, in turn"


def test_own_texts_that_are_too_short_to_cut_are_refused(text: ModelText) -> None:
    own = TextKind(name="own", seed=1, share=1)
    with pytest.raises(UsageError, match="no text in it is longer than 64 tokens"):
        Corpus(recipe_of(own), text, (Document("own/short.txt", "a word"),))
    long = Corpus(recipe_of(own), text, (Document("own/long.txt", "a word or two " * 200),))
    assert {found.group for found in long.shard(1)} == {"own/long.txt"}
    assert {found.group.partition("/")[0] for found in long.held_out()} == {"synthetic"}
