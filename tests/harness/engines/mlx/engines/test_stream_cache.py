"""Blocks over a bounded cache: every query sees what its own step would have shown it, and what is taken back was never
there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.engines.blocks.kv import BoundedKv
from harness.engines.bounded.bounded_verifier import BoundedVerifier, chunk_length, layer_rules
from harness.engines.bounded.restoration import AblateRestorer, Evicted, IdentityRestorer, Restorer
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.verifier.load import Verifier
from reports.records.measurement import Restoration
from tests.harness.f_theta_makers import f_theta_of
from tests.harness.tiny_models import VOCAB, prompt_of, tiny_gemma, tiny_gemma4, tiny_llama, tiny_qwen3

TOLERANCE = 2e-3
"""Rounding of forwards of unequal length, in layers with wide random weights; a wrong position moves logits by 0.1."""


class Dimmed(IdentityRestorer):
    """Puts back half of every key: any query that sees own K/V in place of restored ones shows."""

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        return evicted.keys * 0.5, evicted.values


RESTORERS: dict[str, Callable[[Verifier], Restorer]] = {
    "dimmed": lambda verifier: Dimmed(),
    "ablate": lambda verifier: AblateRestorer(),
    "transient": lambda verifier: f_theta_of(verifier, 2, "transient"),
    "resident": lambda verifier: f_theta_of(verifier, 2, "resident"),
    "some layers": lambda verifier: f_theta_of(verifier, 0, "transient", restorable=(1, 2)),
}


@dataclass(frozen=True)
class Drafted:
    """A block: so many tokens of the stream, then so many that are not in it."""

    kept: int
    rejected: int


BLOCKS = st.lists(st.builds(Drafted, st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=6)


def kv_of(verifier: Verifier, restorer: Restorer, eviction: str = "strict", window: int = 6) -> BoundedKv:
    kept = Restoration(
        mode=restorer.mode,
        exact_layers=(1,),
        sink=2,
        window=window,
        eviction=eviction,  # type: ignore[arg-type]
    )
    rules = layer_rules(kept, restorer, [layer.native_window for layer in verifier.architecture.cache_layers])
    backbone = take_apart(verifier.model, verifier.architecture.name)
    bounded = BoundedVerifier(backbone, kept, restorer, rules, chunk_length(7, rules, restorer), ARRAYS)
    return BoundedKv(bounded, bounded.begin())


def read(kv: BoundedKv, prompt: Sequence[int]) -> None:
    for start in range(0, len(prompt), kv.bounded.chunk):
        kv.read(mx.array([list(prompt[start : start + kv.bounded.chunk])]))
    kv.end_prompt()


def run(kv: BoundedKv, tokens: Sequence[int], kept: int) -> np.ndarray:
    """Logits of the tokens that are kept."""
    logits = kv.verify(mx.array([list(tokens)]))
    mx.eval(logits, kv.pending())
    kv.keep(len(tokens), kept)
    return np.array(logits[0, :kept])


def held(kv: BoundedKv) -> list[np.ndarray]:
    """Keys and values of every layer by slot, without the room to spare, and features."""
    arrays = []
    for layer in kv.cache.layers:
        slots = len(layer.group.layout._held)
        assert layer.keys is not None
        assert layer.values is not None
        assert layer.group.rule.capacity is None or layer.keys.shape[2] == slots
        arrays += [np.array(layer.keys[..., :slots, :]), np.array(layer.values[..., :slots, :])]
    return arrays


@pytest.mark.parametrize("eviction", ["strict", "after"])
@pytest.mark.parametrize("name", RESTORERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 40), BLOCKS, st.sampled_from([tiny_llama, tiny_gemma, tiny_qwen3]))
def test_rejected_drafts_leave_no_trace(name: str, eviction: str, prompt: int, blocks: list[Drafted], family) -> None:  # type: ignore[no-untyped-def]
    verifier = family()
    drafted, stepped = (kv_of(verifier, RESTORERS[name](verifier).fresh(), eviction, window=9) for _ in range(2))
    tokens = prompt_of(prompt + sum(block.kept for block in blocks), seed=prompt)
    for kv in (drafted, stepped):
        read(kv, tokens[:prompt])
    start = prompt
    for number, block in enumerate(blocks):
        wrong = [(token + 1) % VOCAB for token in prompt_of(block.rejected, seed=number)]
        right = tokens[start : start + block.kept]
        found = run(drafted, [*right, *wrong], block.kept)
        expected = np.concatenate([run(stepped, [token], 1) for token in right])
        np.testing.assert_allclose(found, expected, atol=TOLERANCE, rtol=0)
        start += block.kept
    for ours, theirs in zip(held(drafted), held(stepped), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE, rtol=0)
    assert drafted.cache.counters.evicted == stepped.cache.counters.evicted
    assert drafted.cache.counters.expired == stepped.cache.counters.expired
    assert drafted.cache.counters.restored == stepped.cache.counters.restored
    assert {layer.offset for layer in drafted.cache.layers} == {start}


def test_a_block_past_the_window_shows_what_left_it_on_the_way() -> None:
    """Within one block positions leave the window of its later queries, and are seen as they will be put back."""
    verifier, tokens = tiny_llama(), prompt_of(40)
    block, stepped, plain = (
        kv_of(verifier, restorer, window=3) for restorer in (Dimmed(), Dimmed(), IdentityRestorer())
    )
    for kv in (block, stepped, plain):
        read(kv, tokens[:20])
    found = run(block, tokens[20:36], 16)
    expected = np.concatenate([run(stepped, [token], 1) for token in tokens[20:36]])
    np.testing.assert_allclose(found, expected, atol=TOLERANCE, rtol=0)
    assert np.abs(run(plain, tokens[20:36], 16) - found).max() > 0.1


def test_layers_that_return_more_than_hidden_states_are_run_too() -> None:
    verifier, tokens = tiny_gemma4(), prompt_of(40)
    block, stepped = (kv_of(verifier, Dimmed()) for _ in range(2))
    for kv in (block, stepped):
        read(kv, tokens[:20])
    found = run(block, tokens[20:28], 5)
    expected = np.concatenate([run(stepped, [token], 1) for token in tokens[20:25]])
    np.testing.assert_allclose(found, expected, atol=TOLERANCE, rtol=0)


def test_bytes_after_a_block_are_those_of_the_bounds() -> None:
    """A bounded layer holds sink + window again, whatever was drafted; an exact one grows in steps."""
    kv = kv_of(tiny_llama(), AblateRestorer())
    read(kv, prompt_of(30))
    for rejected in (0, 3, 7):
        run(kv, prompt_of(1 + rejected), 1)
        rows = [layer.keys.shape[2] for layer in kv.cache.layers if layer.keys is not None]
        assert rows[:1] + rows[2:] == [2 + 6] * 3
        assert 31 <= rows[1] <= 33 + 256 + 8
