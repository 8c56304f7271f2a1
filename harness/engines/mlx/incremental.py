"""The incremental engine: prefill once, evicting and restoring K/V as it reads, then decode over that cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.mlx.cache import RESTORATION, EvictingCache
from harness.engines.mlx.f_theta import load_f_theta
from harness.engines.mlx.forward import take_apart
from harness.engines.mlx.layout import LayerRule
from harness.engines.mlx.load import Verifier
from harness.engines.mlx.loop import step_loop, token_of
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.native import chunks, native_prefill, native_step
from harness.engines.mlx.native_baseline import NativeSession
from harness.engines.mlx.restoration import Restorer, make_restorer, resolve_restoration
from harness.engines.registry import EngineSettings
from harness.errors import EngineError
from reports.measurement import DrafterInfo, Restoration


@dataclass
class EvictingSession:
    """A prompt read into an evicting cache; `first` is the first token, (1,)."""

    cache: EvictingCache
    first: mx.array

    @property
    def first_token(self) -> int:
        """The token that came out of prefill."""
        return token_of(self.first)


class IncrementalEngine:
    """Restoration `identity`, `ablate` and `f_theta` over an evicting cache; `none` over the model's own caches."""

    name: ClassVar[str] = "incremental"
    decode_loop: ClassVar[str] = "incremental_step"

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        """Check everything that can be checked before a prompt is read.

        Raises:
            UsageError: exact layers, sink or window that the model does not have or that mean nothing.
            EngineError: a restoration or an architecture this engine does not know.
        """
        facts = verifier.facts
        self._model = verifier.model
        self._chunk = settings.prefill_chunk
        self._restoration = resolve_restoration(settings.restoration, facts.layer_types)
        self._backbone = take_apart(verifier.model, facts.architecture)
        self._restorer: Restorer | None = None
        if self._restoration.mode == "f_theta":
            self._restorer, self._restoration = load_f_theta(settings.restoration, self._restoration, verifier)
        elif self._restoration.mode != "none":
            self._restorer = make_restorer(self._restoration.mode)
        if self._restorer is not None:
            windows = [layer.native_window for layer in facts.kv_layers]
            self._rules = layer_rules(self._restoration, self._restorer, windows)
            self._chunk = chunk_length(settings.prefill_chunk, self._rules, self._restorer)

    @property
    def restoration(self) -> Restoration:
        """As resolved on this model."""
        return self._restoration

    @property
    def drafter(self) -> DrafterInfo | None:
        """None."""
        return None

    def prefill(self, tokens: Sequence[int]) -> EvictingSession | NativeSession:
        """Read the prompt in chunks, evicting on the way (strict) or at the end (after)."""
        if self._restorer is None:
            caches = make_prompt_cache(self._model)
            return NativeSession(caches, native_prefill(self._model, caches, tokens, self._chunk))
        strict = self._restoration.eviction == "strict"
        cache = EvictingCache(self._rules, evicting=strict, restorer=self._restorer.fresh())
        for part in chunks(tokens, self._chunk):
            self._read(part, cache)
        first = self._backbone.next_token(self._read(mx.array([[tokens[-1]]]), cache))
        mx.eval(first)
        if not strict:
            cache.evict()
        return EvictingSession(cache, first)

    def _read(self, part: mx.array, cache: EvictingCache) -> mx.array:
        """Read one chunk (1, L); returns its last hidden states, not evaluated."""
        cache.begin_chunk(part.shape[1])
        hidden = self._backbone.run(part, cache)
        cache.end_chunk()
        mx.clear_cache()
        return hidden

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block; eviction and restoration go on with every step."""
        if isinstance(session, NativeSession):
            caches = session.caches
            return step_loop(session.first, lambda token: native_step(self._model, caches, token), limit)
        cache = _own(session).cache
        return step_loop(_own(session).first, lambda token: self._step(token, cache), limit)

    def _step(self, token: mx.array, cache: EvictingCache) -> mx.array:
        """The greedy token after `token` (1,), dispatched but not waited for."""
        cache.begin_step()
        upcoming = self._backbone.next_token(self._backbone.run(token[None], cache))
        mx.async_eval(cache.remade(), upcoming)
        return upcoming

    def stats(self, session: Session) -> SessionStats:
        """Counters of the cache and its bytes. Waits for a step dispatched ahead of a stop token."""
        mx.synchronize()
        if isinstance(session, NativeSession):
            return SessionStats(0, 0, 0.0, 0.0, kv_bytes(session.caches), ())
        cache = _own(session).cache
        return SessionStats(
            restored_positions=cache.counters.restored,
            evicted_positions=cache.counters.evicted,
            restoration_s=cache.watch.total(RESTORATION),
            aux_s=cache.restorer.seconds,
            kv_bytes=cache.nbytes,
            fallbacks=(),
        )


def layer_rules(restoration: Restoration, restorer: Restorer, windows: Sequence[int | None]) -> tuple[LayerRule, ...]:
    """The rule of each layer; `windows` are the layers' native windows, None for full attention."""
    exact = set(restoration.exact_layers or ())
    sink, window = restoration.sink or 0, restoration.window or 0
    return tuple(
        LayerRule("keep", native_window=native)
        if index in exact
        else LayerRule(restorer.policy(index), sink, window, native)
        for index, native in enumerate(windows)
    )


def chunk_length(wanted: int, rules: Sequence[LayerRule], restorer: Restorer) -> int:
    """Tokens read at once: at most a window where layers below the observed one restore from what was observed.

    What such a layer shows a query was observed `window` positions before it or earlier, so in an earlier chunk. By
    the per-query rule the chunk changes no result, only speed.
    """
    below = rules[: restorer.capture_layer or 0]
    windows = [rule.window for rule in below if rule.evicts and rule.policy in ("restore", "rebuild")]
    return min([wanted, *windows])


def _own(session: Session) -> EvictingSession:
    if not isinstance(session, EvictingSession):
        raise EngineError("incremental was given a session of another engine")
    return session
