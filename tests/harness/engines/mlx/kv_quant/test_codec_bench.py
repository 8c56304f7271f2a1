"""Codecs on whole models: what is captured, what is stored, and that the model reads on from what was restored."""

from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache, make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.mlx.kv_quant import runtime_cache
from harness.engines.mlx.kv_quant.captured_kv import attention_inputs, copies, kv_of, read, tapped
from harness.engines.mlx.kv_quant.codec import make_codec
from harness.engines.mlx.kv_quant.codec_bench import CodecBench, captured_layers
from harness.engines.mlx.kv_quant.continuations import greedy, log_probabilities
from harness.engines.mlx.kv_quant.stored_kv import CodecPair, load, lossy_caches, restore, save, store
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import native_prefill, native_step
from tests.harness.engines.mlx.kv_quant.codec_models import (
    LIMIT,
    answers,
    sample_tokens,
    wide_gemma,
    wide_llama,
    wide_qwen3,
)
from tests.harness.tiny_models import prompt_of, tiny_gemma4

MODELS = pytest.mark.parametrize("make", [wide_llama, wide_qwen3, wide_gemma])
Make = Callable[[], Verifier]


def pair(name: str, verifier: Verifier, values: str | None = None) -> CodecPair:
    """One codec in all captured layers."""
    return CodecPair(make_codec(name), make_codec(values or name), frozenset(captured_layers(verifier)))


def bench(verifier: Verifier) -> CodecBench:
    """All captured layers."""
    return CodecBench(verifier, captured_layers(verifier), answers())


def plain_stream(verifier: Verifier, tokens: tuple[int, ...]) -> tuple[int, ...]:
    """What the model says with its own cache, in a loop of the plainest kind."""
    caches = make_prompt_cache(verifier.model)
    token = native_prefill(verifier.model, caches, tokens, LIMIT.chunk)
    stream = [int(token.item())]
    while not LIMIT.ended(stream):
        token = native_step(verifier.model, caches, token)
        stream.append(int(token.item()))
    return LIMIT.cut(stream)


def test_full_attention_layers_are_captured() -> None:
    assert captured_layers(wide_llama()) == (0, 1, 2)
    assert captured_layers(wide_gemma()) == (1, 3)


@MODELS
def test_identity_says_what_the_oracle_says_and_errs_by_nothing(make: Make) -> None:
    verifier, tokens = make(), sample_tokens()
    exact = bench(verifier).exact(0, tokens)
    assert exact.row.token_ids == plain_stream(verifier, tokens.main)
    assert exact.row.second.token_ids == plain_stream(verifier, tokens.second)
    (row,) = bench(verifier).codecs(exact, [pair("identity", verifier)])
    assert (row.token_ids, row.token_ids_equal_oracle) == (exact.row.token_ids, True)
    assert row.second is not None
    assert row.second.token_ids_equal_oracle is True
    assert {(layer.k, layer.v, layer.k_before_rope, layer.attention) for layer in row.layers} == {(0.0, 0.0, 0.0, 0.0)}
    assert row.held_out is not None
    assert row.held_out.top1_flips == 0
    assert row.held_out.kl_divergence < 1e-6
    assert row.stored_bytes == exact.row.kv_bytes == 4 * (row.values or 0)


@MODELS
def test_more_bits_err_less_in_every_measure(make: Make) -> None:
    verifier = make()
    exact = bench(verifier).exact(0, sample_tokens())
    few, many = bench(verifier).codecs(exact, [pair("affine3", verifier), pair("affine8", verifier)])
    assert [layer.layer for layer in few.layers] == list(captured_layers(verifier))
    for coarse, fine in zip(few.layers, many.layers, strict=True):
        assert coarse.k > 10 * fine.k > 0
        assert coarse.v > 10 * fine.v > 0
        assert (coarse.attention or 0) > (fine.attention or 0) > 0
        assert (coarse.k_before_rope or 0) > 10 * (fine.k_before_rope or 0) > 0
    assert few.held_out is not None
    assert many.held_out is not None
    assert few.held_out.kl_divergence > many.held_out.kl_divergence
    assert 8 * (few.stored_bytes or 0) / (few.values or 1) == 3.5
    assert 8 * (many.stored_bytes or 0) / (many.values or 1) == 8.5


def test_an_arm_of_a_batch_says_what_it_says_alone() -> None:
    verifier = wide_llama()
    pairs = [pair(name, verifier) for name in ("affine3", "identity", "hadamard-e8-3", "d4-3")]
    exact = bench(verifier).exact(0, sample_tokens())
    together = list(bench(verifier).codecs(exact, pairs))
    for one, row in zip(pairs, together, strict=True):
        (alone,) = bench(verifier).codecs(exact, [one])
        assert alone.token_ids == row.token_ids
        assert alone.layers == row.layers


def test_only_the_chosen_side_and_layers_are_quantised() -> None:
    verifier = wide_llama()
    exact = bench(verifier).exact(0, sample_tokens())
    mixed = CodecPair(make_codec("affine4"), make_codec("identity"), frozenset({1}))
    (row,) = bench(verifier).codecs(exact, [mixed])
    assert [layer.k > 0 for layer in row.layers] == [False, True, False]
    assert [layer.v for layer in row.layers] == [0.0, 0.0, 0.0]
    assert 8 * (row.stored_bytes or 0) / (row.values or 1) == pytest.approx((5 * 32 + 4.5) / 6)


@MODELS
def test_keys_before_rope_give_the_cached_ones(make: Make) -> None:
    """The captured K is turned by the layer's own RoPE into what the cache holds, in whatever chunks it was read."""
    verifier, layers = make(), captured_layers(make())
    with tapped(verifier.model, layers) as taps:
        caches = read(verifier.model, prompt_of(40), 16)
    for kv in kv_of(caches, layers):
        inputs = attention_inputs(verifier.model, taps[kv.layer], kv)
        assert mx.allclose(taps[kv.layer].rope(inputs.keys_before), kv.keys, atol=1e-4)
        assert inputs.queries.shape[2] == 32


def test_taps_are_gone_afterwards_even_after_an_error() -> None:
    verifier = wide_llama()
    before = [layer.self_attn.rope for layer in verifier.model.model.layers]
    with pytest.raises(RuntimeError), tapped(verifier.model, [0, 1]):
        raise RuntimeError
    assert [layer.self_attn.rope for layer in verifier.model.model.layers] == before


def test_values_made_of_keys_can_be_captured() -> None:
    """Gemma 4's full layers rotate keys first, and have no values of their own."""
    verifier = tiny_gemma4()
    layers = captured_layers(verifier)
    with tapped(verifier.model, layers) as taps:
        caches = read(verifier.model, prompt_of(24), 16)
    for kv in kv_of(caches, layers):
        assert attention_inputs(verifier.model, taps[kv.layer], kv).keys_before.shape == kv.keys.shape


@MODELS
def test_a_copy_is_a_cache_of_its_own(make: Make) -> None:
    verifier = make()
    caches = read(verifier.model, prompt_of(40), 16)
    twins = copies(caches)
    exact = log_probabilities(verifier.model, copies(caches), [5, 6, 7], 1)
    log_probabilities(verifier.model, caches, [9, 8, 7], 1)
    assert mx.allclose(log_probabilities(verifier.model, twins, [5, 6, 7], 1), exact, atol=1e-5)


@pytest.mark.parametrize("name", ["identity", "affine4", "hadamard-affine3", "d4-3", "e8-4"])
def test_a_saved_cache_is_the_stored_one(name: str, tmp_path: Path) -> None:
    verifier = wide_llama()
    kv = kv_of(read(verifier.model, prompt_of(30), 16), (0, 2))
    chosen = pair(name, verifier)
    stored = store(chosen, kv)
    size = save(stored, tmp_path / "kv.safetensors")
    assert 0 < size - sum(layer.nbytes for layer in stored) < 2000
    for ours, theirs, one in zip(stored, load(tmp_path / "kv.safetensors"), kv, strict=True):
        assert ours.layer == theirs.layer
        for a, b in zip(restore(chosen, ours, one.keys), restore(chosen, theirs, one.keys), strict=True):
            assert mx.array_equal(a, b)


def test_restored_keys_and_values_are_what_the_model_reads() -> None:
    """K/V put at zero change the answer: the cache that is read on from is the lossy one."""
    verifier = wide_gemma()
    caches = read(verifier.model, prompt_of(40), 16)
    kv = kv_of(caches, captured_layers(verifier))
    chosen = pair("affine2", verifier)
    batch = lossy_caches(caches, kv, [(chosen, store(chosen, kv))] * 2)
    assert [type(cache) is KVCache for cache in batch] == [False, True, False, True]
    lossy = log_probabilities(verifier.model, batch, [5, 6], 2)
    exact = log_probabilities(verifier.model, copies(caches), [5, 6], 1)
    assert mx.allclose(lossy[0], lossy[1], atol=1e-5)
    assert not mx.allclose(lossy[0], exact[0], atol=1e-2)


@MODELS
@pytest.mark.parametrize("bits", runtime_cache.BITS)
def test_the_runtimes_cache_is_counted_saved_and_read_on_from(make: Make, bits: int) -> None:
    verifier = make()
    exact = bench(verifier).exact(0, sample_tokens())
    row = bench(verifier).runtime(exact, bits, 64)
    assert 8 * (row.stored_bytes or 0) / (row.values or 1) == bits + 1.0
    assert (row.resident_bytes or 0) >= (row.stored_bytes or 0)
    assert row.decode_tokens == LIMIT.timed_tokens - 1
    assert (row.decode_s or 0) > 0
    assert row.second is not None
    assert (row.second.file_bytes or 0) > 0
    assert 0 < (row.relative_error_k or 0) < (1e-3 if bits == 8 else 1)


def test_what_the_runtime_cannot_hold_is_refused() -> None:
    with pytest.raises(EngineError, match="cannot hold 3 bits"):
        runtime_cache.quantised_caches(wide_llama().model, [0], 3, 64)
    with pytest.raises(EngineError, match="RotatingKVCache"):
        runtime_cache.quantised_caches(wide_gemma().model, [0], 4, 64)


def test_streams_end_at_their_own_stop() -> None:
    verifier = wide_llama()
    caches = read(verifier.model, prompt_of(20), 16)
    (free,) = greedy(verifier.model, copies(caches), [5], 1, LIMIT)
    assert len(free) <= LIMIT.new_tokens
    stop = free[2]
    limit = type(LIMIT)(LIMIT.new_tokens, LIMIT.timed_tokens, {stop: "eos"}, LIMIT.chunk)
    assert greedy(verifier.model, copies(caches, 2), [5], 2, limit) == [free[: free.index(stop) + 1]] * 2
