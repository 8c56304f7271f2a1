"""Measures codecs on one prompt after another. Everything of one sample is measured together.

What is exact comes first: the verifier's own answers, its K/V after the whole prompt, after the haystack alone and
after the held-out context. Each codec then stores those K/V, and the model reads on from what is restored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache, make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.codec_scores import Answers
from harness.engines.mlx.kv_quant import runtime_cache as runtime
from harness.engines.mlx.kv_quant.captured_kv import (
    AttentionInputs,
    LayerKv,
    attention_inputs,
    copies,
    kv_of,
    read,
    tapped,
)
from harness.engines.mlx.kv_quant.continuations import compare_held_out, greedy, log_probabilities
from harness.engines.mlx.kv_quant.distortion import energies, layer_errors, relative_energy
from harness.engines.mlx.kv_quant.stored_kv import CodecPair, StoredLayer, load, lossy_caches, save, store
from harness.engines.mlx.verifier.load import Verifier
from reports.records.codec_rows import CodecSample, HeldOut, LayerError, OracleSample

BATCH = 16
"""Arms that read on together; every row of the batch has a cache of its own."""

LOGITS = 40_000_000
"""Numbers of one batch's logits on the held-out text, at most."""


@dataclass(frozen=True)
class SampleTokens:
    """One sample, tokenised: two questions that share `haystack` tokens, and a text scored from `scored_from` on."""

    main: tuple[int, ...]
    second: tuple[int, ...]
    haystack: int
    held_out: tuple[int, ...]
    scored_from: int


@dataclass(frozen=True)
class ReadText:
    """A text read exactly: the caches, and the K/V of the captured layers."""

    caches: list[Any]
    kv: tuple[LayerKv, ...]


@dataclass(frozen=True)
class Exact:
    """What the verifier itself holds and says of one sample."""

    tokens: SampleTokens
    row: OracleSample
    whole: ReadText
    inputs: tuple[AttentionInputs, ...]
    haystack: ReadText
    held_out: ReadText
    scored: mx.array


def captured_layers(verifier: Verifier) -> tuple[int, ...]:
    """Layers whose K/V are captured: all that keep a plain cache, which are the full-attention ones.

    Raises:
        EngineError: there is none.
    """
    layers = tuple(index for index, cache in enumerate(make_prompt_cache(verifier.model)) if type(cache) is KVCache)
    if not layers:
        raise EngineError(f"{verifier.architecture.name} has no full-attention layer whose K/V could be captured")
    return layers


class CodecBench:
    """One verifier, the layers captured, and how streams are cut and scored."""

    def __init__(self, verifier: Verifier, layers: Sequence[int], answers: Answers) -> None:
        self._model = verifier.model
        self._layers = tuple(layers)
        self._limit = answers.limit
        self._answers = answers

    def exact(self, sample: int, tokens: SampleTokens) -> Exact:
        """Read everything exactly, once."""
        with tapped(self._model, self._layers) as taps:
            caches = read(self._model, tokens.main[: tokens.haystack], self._limit.chunk)
            haystack = ReadText(copies(caches), kv_of(caches, self._layers))
            read(self._model, tokens.main[tokens.haystack : -1], self._limit.chunk, caches)
        whole = ReadText(caches, kv_of(caches, self._layers))
        inputs = tuple(attention_inputs(self._model, taps[kv.layer], kv) for kv in whole.kv)
        context = read(self._model, tokens.held_out[: tokens.scored_from], self._limit.chunk)
        held_out = ReadText(copies(context), kv_of(context, self._layers))
        scored = log_probabilities(self._model, context, tokens.held_out[tokens.scored_from : -1], 1)
        mx.eval(scored)
        row = self._oracle(sample, tokens, whole, haystack)
        return Exact(tokens, row, whole, inputs, haystack, held_out, scored[0])

    def _oracle(self, sample: int, tokens: SampleTokens, whole: ReadText, haystack: ReadText) -> OracleSample:
        """The verifier's own answers: to the first question from a prefill that nothing of ours touched."""
        first = self._timed(read(self._model, tokens.main[:-1], self._limit.chunk), tokens.main[-1:])
        rest = tokens.second[tokens.haystack : -1]
        second = self._timed(read(self._model, rest, self._limit.chunk, copies(haystack.caches)), tokens.second[-1:])
        return OracleSample(
            sample=sample,
            token_ids=first.tokens,
            text=self._answers.text(first.tokens),
            correct=self._answers.correct(sample, first.tokens),
            stop_reason=self._answers.stop_reason(first.tokens),
            second=self._answers.second(sample, second.tokens),
            energies=energies(whole.kv),
            positions=len(tokens.main) - 1,
            kv_bytes=sum(int(kv.keys.nbytes + kv.values.nbytes) for kv in whole.kv),
            decode_s=first.decode_s,
            decode_tokens=first.decode_tokens,
        )

    def _timed(self, caches: list[Any], tokens: Sequence[int]) -> runtime.TimedStream:
        return runtime.timed_stream(self._model, caches, tokens, self._limit)

    def codecs(self, exact: Exact, pairs: Sequence[CodecPair]) -> Iterator[CodecSample]:
        """The rows of all codecs on one sample, in their order."""
        for start in range(0, len(pairs), BATCH):
            yield from self._batch(exact, pairs[start : start + BATCH])

    def _batch(self, exact: Exact, pairs: Sequence[CodecPair]) -> list[CodecSample]:
        whole = [store(pair, exact.whole.kv) for pair in pairs]
        errors = [
            layer_errors(pair, exact.whole.kv, stored, exact.inputs) for pair, stored in zip(pairs, whole, strict=True)
        ]
        cold = self._read_on(exact.whole, pairs, whole, exact.tokens.main[-1:])
        haystack = [store(pair, exact.haystack.kv) for pair in pairs]
        loaded, sizes = _through_files(haystack)
        warm = self._read_on(exact.haystack, pairs, loaded, exact.tokens.second[exact.tokens.haystack :])
        held_out = self._held_out(exact, pairs)
        values = sum(kv.keys.size + kv.values.size for kv in exact.whole.kv)
        return [
            self._answers.row(
                exact.row,
                cold[number],
                self._answers.second(exact.row.sample, warm[number], exact.row.second, sizes[number]),
                errors=errors[number],
                stored_bytes=sum(layer.nbytes for layer in whole[number]),
                values=values,
                entropy_bits=_entropy(pair, whole[number]) / values,
                held_out=held_out[number],
            )
            for number, pair in enumerate(pairs)
        ]

    def _read_on(
        self,
        context: ReadText,
        pairs: Sequence[CodecPair],
        stored: Sequence[Sequence[StoredLayer]],
        tokens: Sequence[int],
    ) -> list[tuple[int, ...]]:
        """The greedy answers of all arms after `tokens`, each from what it stored of `context`."""
        caches = lossy_caches(context.caches, context.kv, list(zip(pairs, stored, strict=True)))
        return greedy(self._model, caches, tokens, len(pairs), self._limit)

    def _held_out(self, exact: Exact, pairs: Sequence[CodecPair]) -> list[HeldOut]:
        """Logits after the lossy context against the exact ones, a few arms at a time where the vocabulary is large."""
        scored = exact.tokens.held_out[exact.tokens.scored_from : -1]
        size = max(1, LOGITS // exact.scored.size)
        found: list[HeldOut] = []
        for start in range(0, len(pairs), size):
            part = pairs[start : start + size]
            stored = [(pair, store(pair, exact.held_out.kv)) for pair in part]
            caches = lossy_caches(exact.held_out.caches, exact.held_out.kv, stored)
            lossy = log_probabilities(self._model, caches, scored, len(part))
            found += [compare_held_out(exact.scored, lossy[row]) for row in range(len(part))]
            mx.clear_cache()
        return found

    def runtime(self, exact: Exact, bits: int, group: int) -> CodecSample:
        """The row of mlx-lm's quantised cache: its own prefill, which attends to what it has quantised already.

        Raises:
            EngineError: mlx-lm cannot quantise the caches of this model so.
        """
        model, tokens, chunk = self._model, exact.tokens, self._limit.chunk
        caches = read(model, tokens.main[: tokens.haystack], chunk, self._quantised(bits, group))
        with TemporaryDirectory() as folder:
            loaded, size = runtime.reloaded(caches, Path(folder) / "cache.safetensors")
            warm = greedy(model, loaded, tokens.second[tokens.haystack :], 1, self._limit)
        read(model, tokens.main[tokens.haystack : -1], chunk, caches)
        kept = runtime.held(caches, self._layers)
        errors = tuple(
            LayerError(
                layer=one.layer, k=relative_energy(ours.keys, one.keys), v=relative_energy(ours.values, one.values)
            )
            for ours, one in zip(kept, exact.whole.kv, strict=True)
        )
        stored, resident = (count(caches, self._layers) for count in (runtime.stored_bytes, runtime.resident_bytes))
        cold = self._timed(caches, tokens.main[-1:])
        context = read(model, tokens.held_out[: tokens.scored_from], chunk, self._quantised(bits, group))
        lossy = log_probabilities(model, context, tokens.held_out[tokens.scored_from : -1], 1)
        return self._answers.row(
            exact.row,
            cold.tokens,
            self._answers.second(exact.row.sample, warm[0], exact.row.second, size),
            errors=errors,
            stored_bytes=stored,
            values=sum(kv.keys.size + kv.values.size for kv in exact.whole.kv),
            resident_bytes=resident,
            held_out=compare_held_out(exact.scored, lossy[0]),
            decode_s=cold.decode_s,
            decode_tokens=cold.decode_tokens,
        )

    def _quantised(self, bits: int, group: int) -> list[Any]:
        return runtime.quantised_caches(self._model, self._layers, bits, group)


def _entropy(pair: CodecPair, stored: Sequence[StoredLayer]) -> float:
    """Bits of all layers if their codes were entropy-coded."""
    total = 0.0
    for layer in stored:
        of_keys, of_values = pair.of(layer.layer)
        total += of_keys.entropy_bits(layer.keys) + of_values.entropy_bits(layer.values)
    return total


def _through_files(stored: Sequence[Sequence[StoredLayer]]) -> tuple[list[tuple[StoredLayer, ...]], list[int]]:
    """Each arm's K/V written to a file and read back; and the bytes of the files."""
    loaded, sizes = [], []
    with TemporaryDirectory() as folder:
        for number, one in enumerate(stored):
            path = Path(folder) / f"{number}.safetensors"
            sizes.append(save(one, path))
            loaded.append(load(path))
            mx.eval([[list(layer.keys.arrays.values()), list(layer.values.arrays.values())] for layer in loaded[-1]])
    return loaded, sizes
