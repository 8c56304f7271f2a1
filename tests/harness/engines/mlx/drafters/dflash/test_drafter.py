"""The DFlash drafter in MLX and in PyTorch: one set of weights, the same drafts; and lossless as any other."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import EngineError, ModelError, UsageError
from harness.checks.mlx.compare_drafters import compare_drafters
from harness.engines.base import DecodeLimit
from harness.engines.dflash_config import DflashLayerKind, read_dflash_config
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.mlx.drafters.dflash.layers import block_mask
from harness.engines.mlx.drafters.dflash.shared_weights import share
from harness.engines.mlx.drafters.dflash.torch_runtime import TorchDflashDrafter
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.engines.mlx.drafters.dflash_checkpoints import CONFIG, write_checkpoint
from tests.harness.lively_models import lively_gemma, lively_gemma4
from tests.harness.tiny_models import prompt_of, tiny_llama, tiny_qwen2

RUNTIMES = [DflashDrafter, pytest.param(TorchDflashDrafter, marks=pytest.mark.torch)]
VERIFIERS = {"llama": tiny_llama, "gemma": lively_gemma, "gemma4": lively_gemma4, "qwen2": tiny_qwen2}
SHAPES: dict[str, dict[str, Any]] = {
    "mixed": {},
    "full": {"layer_types": ["full_attention"] * 3},
    "sliding, not causal": {"layer_types": ["sliding_attention"] * 3, "is_causal": False},
    "causal": {"layer_types": ["full_attention"] * 3, "is_causal": True},
    "draft vocabulary": {"draft_vocab": list(range(1, 97, 3))},
    "three targets": {"dflash_config": {"target_layer_ids": [2, 0, 1], "mask_token_id": 5}},
    "rope of transformers 5": {"rope_theta": None, "rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}},
}


def parity(verifier: Verifier, folder: Path, dtype: str | None = None, size: int = 16) -> Any:
    reference = TorchDflashDrafter(folder, None, verifier, None)
    candidate = DflashDrafter(folder, None, verifier, dtype)
    prompts = [prompt_of(length, seed=length) for length in (1, 7, 60)]
    spec = DrafterSpec(kind="dflash", model=str(folder), block_size=size)
    return compare_drafters(verifier, reference, candidate, prompts, spec, blocks=4, prefill_chunk=16)


@pytest.mark.torch
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", VERIFIERS)
def test_mlx_and_torch_agree_on_every_token_in_f32(model: str, shape: str, tmp_path: Path) -> None:
    result = parity(VERIFIERS[model](), write_checkpoint(tmp_path, **SHAPES[shape]))
    assert len(result.blocks) == 3 * 4
    assert all(block.reference_tokens == block.candidate_tokens for block in result.blocks)
    assert {len(block.candidate_tokens) for block in result.blocks} >= {15}
    assert len({token for block in result.blocks for token in block.candidate_tokens}) > 3
    assert (result.reference_runtime, result.candidate_runtime) == ("torch", "mlx")
    assert (result.reference_dtype, result.candidate_dtype) == ("float32", "float32")


@pytest.mark.torch
def test_in_bf16_agreement_is_measured_not_assumed(tmp_path: Path) -> None:
    result = parity(tiny_llama(), write_checkpoint(tmp_path), dtype="bfloat16")
    same = [a == b for x in result.blocks for a, b in zip(x.reference_tokens, x.candidate_tokens, strict=True)]
    assert result.candidate_dtype == "bfloat16"
    assert 0.5 < sum(same) / len(same) <= 1.0


def test_a_block_depends_on_context_far_back_only_through_full_layers(tmp_path: Path) -> None:
    shape = {"layer_types": ["sliding_attention"] * 3, "is_causal": False}
    sliding = DflashDrafter(write_checkpoint(tmp_path / "s", **shape), None, tiny_llama(), None)
    full = DflashDrafter(write_checkpoint(tmp_path / "f", **SHAPES["full"]), None, tiny_llama(), None)
    features = mx.random.normal((1, 40, 64), key=mx.random.key(1))
    other = mx.concatenate([mx.random.normal((1, 5, 64), key=mx.random.key(2)), features[:, 5:]], axis=1)
    hidden = {}
    for name, drafter in (("sliding", sliding), ("full", full)):
        for which, context in (("one", features), ("other", other)):
            draft = drafter.begin()
            draft.extend([1] * 40, context)
            block = drafter._shared.embed(mx.array([[3, 96, 96, 96]]))
            hidden[name, which] = drafter._model(block, draft._contexts)
    assert mx.array_equal(hidden["sliding", "one"], hidden["sliding", "other"])
    assert not mx.allclose(hidden["full", "one"], hidden["full", "other"], atol=1e-3)


@pytest.mark.parametrize("cuts", [[40], [1] * 40, [17, 3, 20]])
def test_the_context_does_not_depend_on_how_it_was_cut(cuts: list[int], tmp_path: Path) -> None:
    drafter = DflashDrafter(write_checkpoint(tmp_path), None, tiny_llama(), None)
    features = mx.random.normal((1, 40, 64), key=mx.random.key(1))
    whole, parts = drafter.begin(), drafter.begin()
    whole.extend([1] * 40, features)
    start = 0
    for cut in cuts:
        parts.extend([1] * cut, features[:, start : start + cut])
        start += cut
    assert parts.propose(4, 9) == whole.propose(4, 9) == whole.propose(4, 9)
    assert parts.counters.context == 40
    assert parts.nbytes > 0


@pytest.mark.torch
def test_its_layers_are_qwen3_s_own(tmp_path: Path) -> None:
    """Without context and with a causal block the drafter is transformers' Qwen 3 stack on the same weights."""
    import torch
    from safetensors.torch import load_file
    from transformers import Qwen3Config, Qwen3Model

    folder = write_checkpoint(tmp_path, layer_types=["full_attention"] * 3, is_causal=True)
    fields = {key: value for key, value in CONFIG.items() if key not in ("model_type", "layer_types", "architectures")}
    theirs = Qwen3Model(Qwen3Config(**fields, layer_types=["full_attention"] * 3)).eval()
    theirs.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
    drafter = DflashDrafter(folder, None, tiny_llama(), None)
    embedded = mx.random.normal((1, 9, 32), key=mx.random.key(4))
    ours = drafter._model(embedded, drafter.begin()._contexts)
    with torch.no_grad():
        expected = theirs(inputs_embeds=torch.from_numpy(np.array(embedded))).last_hidden_state
    np.testing.assert_allclose(np.array(ours), expected.numpy(), atol=1e-4)


def test_block_masks() -> None:
    assert block_mask(DflashLayerKind(None, False), 3, 8) is None
    causal = np.array(block_mask(DflashLayerKind(None, True), 2, 4))
    assert causal.tolist() == [[True, True, True, False], [True] * 4]
    window = np.array(block_mask(DflashLayerKind(3, False), 2, 6))
    assert window.tolist() == [[False, False, True, True, True, True], [False, False, False, True, True, True]]


@pytest.mark.parametrize("kind", ["dflash", pytest.param("dflash-torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("name", ["fused", "fused-carry"])
@pytest.mark.parametrize("model", ["llama", "gemma", "gemma4"])
def test_it_is_lossless(model: str, name: str, kind: Any, tmp_path: Path) -> None:
    verifier, limit, prompt = VERIFIERS[model](), DecodeLimit(32, {}), prompt_of(40)
    request = DrafterSpec(kind=kind, model=str(write_checkpoint(tmp_path)), block_size=4)
    streams = {}
    for engine in (
        build("ar", verifier, EngineSettings(prefill_chunk=16)),
        build(name, verifier, EngineSettings(prefill_chunk=16, drafter=request)),
    ):
        session = engine.prefill(prompt)
        blocks = list(engine.decode(session, limit))
        streams[engine.kind.name] = [session.first_token, *(token for block in blocks for token in block.tokens)]
        said = engine.drafter
    assert streams["ar"] == streams[name]
    assert said is not None
    assert said.weights is not None
    assert said.weights.startswith("sha256:")
    assert (said.name, said.runtime) == ("dflash", {"dflash": "mlx", "dflash-torch": "torch"}[kind])


def test_in_a_single_graph_it_proposes_the_same(tmp_path: Path) -> None:
    folder, seen = str(write_checkpoint(tmp_path)), []
    for graph in ("two_phase", "single"):
        request = DrafterSpec(kind="dflash", model=folder, block_size=8, graph=graph)
        engine = build("fused", tiny_llama(), EngineSettings(drafter=request))
        blocks = list(engine.decode(engine.prefill(prompt_of(40)), DecodeLimit(32, {})))
        seen.append([(block.tokens, block.drafted, block.accepted) for block in blocks])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("verifier", VERIFIERS.values())
def test_table_and_head_are_the_verifier_s(verifier: Any) -> None:
    model = verifier().model
    shared, tokens = share(model), mx.array([prompt_of(12)])
    states = model.model(tokens)
    assert mx.allclose(shared.head(states), model(tokens), atol=1e-4)
    assert mx.array_equal(shared.embed(tokens), model.model.embed_tokens.weight[tokens])


def test_the_layout_is_read_as_published(tmp_path: Path) -> None:
    config = read_dflash_config(write_checkpoint(tmp_path))
    assert config.target_layer_ids == (0, 2)
    assert (config.mask_token_id, config.block_size) == (96, 16)
    assert config.layer_kinds == (DflashLayerKind(12, True), DflashLayerKind(None, False), DflashLayerKind(12, True))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dflash_config": {"mask_token_id": 1}}, "target_layer_ids"),
        ({"dflash_config": {"target_layer_ids": [0]}}, "mask_token_id"),
        ({"dflash_config": {"target_layer_ids": [0.5], "mask_token_id": 1}}, "target_layer_ids"),
        ({"block_size": None}, "block_size"),
        ({"layer_types": ["linear_attention"] * 3}, "layer_types"),
        ({"sliding_window": None}, "sliding_window"),
        ({"selector_rank": 8}, "selector_rank"),
        ({"attention_bias": True}, "attention_bias"),
    ],
)
def test_a_config_that_is_none_names_the_field(changes: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf"config.json: {field}"):
        read_dflash_config(write_checkpoint(tmp_path, **changes))


@pytest.mark.parametrize("kind", RUNTIMES)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden_size": 64}, "hidden_size 64"),
        ({"dflash_config": {"target_layer_ids": [0, 9], "mask_token_id": 1}}, "no layer 9"),
        ({"dflash_config": {"target_layer_ids": [0, 2], "mask_token_id": 97}}, "mask_token_id 97"),
    ],
)
def test_a_drafter_of_another_verifier_is_refused(
    kind: Any, changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(EngineError, match=reason):
        kind(write_checkpoint(tmp_path, **changes), None, tiny_llama(), None)


@pytest.mark.parametrize("kind", RUNTIMES)
def test_weights_of_another_layout_are_refused(kind: Any, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path)
    weights = mx.load(str(folder / "model.safetensors"))
    weights.pop("layers.1.mlp.up_proj.weight")
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    with pytest.raises(ModelError, match="published DFlash layout"):
        kind(folder, None, tiny_llama(), None)


def test_a_block_larger_than_trained_is_refused(tmp_path: Path) -> None:
    request = DrafterSpec(kind="dflash", model=str(write_checkpoint(tmp_path)), block_size=17)
    with pytest.raises(UsageError, match="17 is more than the 16"):
        build("fused", tiny_llama(), EngineSettings(drafter=request))


@pytest.mark.torch
def test_the_reference_cannot_be_part_of_a_graph(tmp_path: Path) -> None:
    request = DrafterSpec(kind="dflash-torch", model=str(write_checkpoint(tmp_path)), graph="single")
    with pytest.raises(EngineError, match="outside the verifier's graph"):
        build("fused", tiny_llama(), EngineSettings(drafter=request))


def test_parity_is_of_one_drafter_s_weights(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path)
    one, two = (DflashDrafter(folder, f"sha256:{digit * 64}", tiny_llama(), None) for digit in "ab")
    with pytest.raises(EngineError, match="other weights"):
        compare_drafters(tiny_llama(), one, two, [[1]], DrafterSpec(kind="dflash", model=str(tmp_path)), blocks=1)


def test_a_draft_vocabulary_leaves_the_best_of_its_own_tokens(tmp_path: Path) -> None:
    verifier, ids = tiny_qwen2(), [3, 8, 20, 41, 42, 77, 96]
    whole = DflashDrafter(write_checkpoint(tmp_path / "whole"), None, verifier, None)
    narrow = DflashDrafter(write_checkpoint(tmp_path / "narrow", draft_vocab=ids), None, verifier, None)
    features = mx.random.normal((1, 20, 64), key=mx.random.key(1))
    drafts = [drafter.begin() for drafter in (whole, narrow)]
    for draft in drafts:
        draft.extend([1] * 20, features)
    block = whole._shared.embed(mx.array([[7, *[96] * 9]]))
    logits = np.array(whole._shared.head(whole._model(block, drafts[0]._contexts)[:, 1:]))[0]
    assert drafts[1].propose(7, 9) == [ids[best] for best in logits[:, ids].argmax(-1)]


@pytest.mark.parametrize("kind", RUNTIMES)
@pytest.mark.parametrize(
    ("ids", "count", "reason"),
    [
        ([3, 8], None, "draft_vocab without k3_draft_vocab"),
        (None, 2, "k3_draft_vocab without draft_vocab"),
        ([3, 8], 3, "k3_draft_vocab is 3, draft_vocab has 2 ids"),
        ([8, 3], 2, "not ascending"),
        ([3, 97], 2, "outside the verifier's 97 tokens"),
    ],
)
def test_a_draft_vocabulary_that_is_none_is_refused(
    kind: Any, ids: list[int] | None, count: int | None, reason: str, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path, draft_vocab=ids, k3_draft_vocab=count)
    with pytest.raises(ModelError, match=reason):
        kind(folder, None, tiny_llama(), None)


@pytest.mark.parametrize("make", RUNTIMES)
@pytest.mark.parametrize("shape", ["full", "draft vocabulary"])
def test_it_proposes_as_far_as_it_is_sure(make: Any, shape: str, tmp_path: Path) -> None:
    verifier, size = tiny_llama(), 6
    draft = make(write_checkpoint(tmp_path, **SHAPES[shape]), None, verifier, None).begin()
    draft.extend([1, 2, 3, 4], mx.random.normal((1, 4, 64), key=mx.random.key(1)))
    whole = draft.propose(9, size)
    assert draft.propose_sure(9, size, 0.0) == whole
    kept = [draft.propose_sure(9, size, 10.0**-digits) for digits in range(30)]
    assert all(found == whole[: len(found)] for found in kept), "the leading drafts, nothing else"
    counts = [len(found) for found in kept]
    assert counts == sorted(counts), "the less is asked for, the more"
    assert (counts[0], counts[-1]) == (0, size)
    assert len(set(counts)) > 2
    assert draft.counters.proposed == 2 * size + sum(counts)


@pytest.mark.torch
def test_both_runtimes_are_as_sure(tmp_path: Path) -> None:
    verifier, folder = tiny_llama(), write_checkpoint(tmp_path)
    drafts = [make(folder, None, verifier, "float32").begin() for make in (DflashDrafter, TorchDflashDrafter)]
    for draft in drafts:
        draft.extend([1, 2, 3, 4], mx.random.normal((1, 4, 64), key=mx.random.key(1)))
    for digits in range(25):
        ours, theirs = (draft.propose_sure(9, 6, 10.0**-digits) for draft in drafts)
        assert ours == theirs
