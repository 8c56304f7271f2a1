"""A small model as drafter: the same tokens as its own greedy stream, whatever was accepted of them before."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models import llama

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.mlx.drafters.model import ModelDraft, ModelDrafter, Rows
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.fused_carry import FusedCarryEngine
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.fetching.fetch import ensure
from tests.harness.commands.tiny_runs import tiny_gemma4_4bit
from tests.harness.lively_models import lively_gemma, lively_gemma4
from tests.harness.tiny_models import SHAPE, prompt_of, tiny_llama, verifier_of
from tests.tokenizers_for_tests import trained


def greedy(verifier: Verifier, tokens: list[int], count: int) -> list[int]:
    """Without a cache."""
    whole = list(tokens)
    for _ in range(count):
        whole.append(int(mx.argmax(verifier.model(mx.array([whole]))[0, -1]).item()))
    return whole[len(tokens) :]


@pytest.mark.parametrize("accepted", range(5))
def test_it_goes_on_from_what_was_committed(accepted: int) -> None:
    draft = ModelDraft(lively_gemma().model, 16, Rows(97, 97))
    context = prompt_of(40)
    draft.extend(context[:16], None)
    draft.extend(context[16:], None)
    last = 7
    for _ in range(4):
        drafts = draft.propose(last, 4)
        assert drafts == greedy(lively_gemma(), [*context, last], 4)
        kept = [last, *drafts[:accepted]]
        draft.extend(kept, None)
        context += kept
        last = (drafts[-1] + 11) % 97
    draft.extend([last], None)
    context.append(last)
    assert draft.propose(3, 2) == greedy(lively_gemma(), [*context, 3], 2)
    assert draft.counters.context == len(context)
    assert draft.nbytes > 0


@pytest.mark.parametrize("graph", ["two_phase", "single"])
@pytest.mark.parametrize("engine_class", [FusedEngine, FusedCarryEngine])
@pytest.mark.parametrize("drafting", [lively_gemma, lively_gemma4, tiny_llama])
def test_it_is_lossless(drafting, engine_class, graph: str) -> None:
    verifier, limit, prompt = lively_gemma(), DecodeLimit(40, {}), prompt_of(40)
    request = DrafterSpec(kind="model", model="unused", block_size=5, graph=graph)
    settings = EngineSettings(prefill_chunk=16, drafter=request)
    fused = engine_class(verifier, settings, ModelDrafter(drafting(), None, verifier, 16))
    oracle = build("ar", verifier, EngineSettings(prefill_chunk=16))
    session = oracle.prefill(prompt)
    expected = [session.first_token, *(block.tokens[0] for block in oracle.decode(session, limit))]
    session = fused.prefill(prompt)
    blocks = list(fused.decode(session, limit))
    assert [session.first_token, *(token for block in blocks for token in block.tokens)] == expected
    if drafting is lively_gemma:
        assert all(block.accepted == block.drafted for block in blocks)


def padded(rows: int, seed: int, tokenizer: Any) -> Verifier:
    """A random llama with `rows` for the 400 tokens of a trained tokenizer."""
    shape = SHAPE | {"vocab_size": rows}
    model = llama.Model(llama.ModelArgs(model_type="llama", num_hidden_layers=2, tie_word_embeddings=False, **shape))
    return replace(verifier_of(model, "llama", seed), tokenizer=tokenizer)


@pytest.mark.parametrize(("draft_rows", "rows"), [(448, 416), (416, 448)])
def test_a_vocabulary_padded_otherwise_is_the_same_vocabulary(draft_rows: int, rows: int) -> None:
    """Models of one family have one tokenizer and are padded to what suits each: Qwen2.5 of 0.5B and of 7B, say."""
    tokenizer = trained(chat=False)
    verifier, drafting = padded(rows, 1, tokenizer), padded(draft_rows, 2, tokenizer)
    drafter, limit, prompt = ModelDrafter(drafting, None, verifier, 16), DecodeLimit(40, {}), prompt_of(40)
    request = DrafterSpec(kind="model", model="unused", block_size=5)
    fused = FusedEngine(verifier, EngineSettings(prefill_chunk=16, drafter=request), drafter)
    oracle = build("ar", verifier, EngineSettings(prefill_chunk=16))
    session = oracle.prefill(prompt)
    expected = [session.first_token, *(block.tokens[0] for block in oracle.decode(session, limit))]
    session = fused.prefill(prompt)
    assert [
        session.first_token,
        *(token for block in fused.decode(session, limit) for token in block.tokens),
    ] == expected
    draft = drafter.begin()
    draft.extend([*prompt, rows - 1], None)
    assert max(draft.propose(rows - 1, 4)) < min(draft_rows, rows)


def test_another_vocabulary_is_refused() -> None:
    small = lively_gemma()
    other = Verifier(small.model, None, small.architecture.__class__(**{**vars(small.architecture), "vocab": 50}))
    with pytest.raises(EngineError, match="vocabulary of 50"):
        ModelDrafter(other, None, small, 16)
    with pytest.raises(EngineError, match="no padding: their tokenizers differ"):
        ModelDrafter(padded(448, 2, trained(chat=False)), None, padded(416, 1, another_tokenizer()), 16)
    with pytest.raises(EngineError, match="no padding"):
        ModelDrafter(padded(448, 2, trained(chat=False)), None, padded(280, 1, trained(chat=False)), 16)


def another_tokenizer() -> Any:
    tokenizer = copy.deepcopy(trained(chat=False))
    tokenizer.add_tokens(["<another>"])
    return tokenizer


def test_a_rounded_copy_errs_and_is_lossless_all_the_same() -> None:
    """Its drafts come from coarser weights; the verifier, from the same folder, keeps its own."""
    model = ensure("k3-tiny")
    verifier, limit = load_verifier(model.folder), DecodeLimit(24, {})
    tokenizer = verifier.tokenizer
    prompt = tokenizer.encode("def add_one(value):\n    return value + 1\n\n\ndef add_two(value):\n")
    oracle = build("ar", verifier, EngineSettings())
    session = oracle.prefill(prompt)
    expected = [session.first_token, *(block.tokens[0] for block in oracle.decode(session, limit))]
    accepted = {}
    for bits in (None, 2):
        request = DrafterSpec(kind="model", model="k3-tiny", block_size=4, bits=bits)
        fused = build("fused", verifier, EngineSettings(drafter=request))
        session = fused.prefill(prompt)
        blocks = list(fused.decode(session, limit))
        assert [session.first_token, *(token for block in blocks for token in block.tokens)] == expected
        assert (fused.drafter.bits, fused.drafter.weights) == (bits, model.weights)
        accepted[bits] = [block.drafted - block.accepted for block in blocks]
    assert sum(accepted[None]) == 0 < sum(accepted[2])


def test_what_cannot_be_rounded_is_refused(tmp_path: Path) -> None:
    folder = tiny_gemma4_4bit(tmp_path / "quantised")
    verifier = load_verifier(folder)
    with pytest.raises(EngineError, match=r"quantised already \(affine 4-bit, group 32\)"):
        ModelDrafter.load(folder, "sha256:" + 64 * "0", verifier, 16, bits=3)
