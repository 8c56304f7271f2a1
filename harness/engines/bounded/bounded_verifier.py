"""A verifier over a bounded cache: what the engines that evict and restore have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.base.errors import EngineError
from harness.engines.base import LoadedVerifier
from harness.engines.bounded.arrays import Array, Arrays
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.f_theta import LoadMaps, Maps, load_f_theta
from harness.engines.bounded.layout import LayerRule
from harness.engines.bounded.restoration import Restorer, make_restorer, resolve_restoration
from harness.engines.spec import EngineSettings
from reports.records.measurement import Restoration


class Layers(Protocol):
    """A model taken apart, so that every layer is run on its own mask."""

    def run(self, tokens: Array, cache: EvictingCache) -> Array:
        """Hidden states after the last layer, before the norm, shape (1, L, hidden); `cache` is planned already."""
        ...

    def logits(self, hidden: Array) -> Array:
        """Logits after every position of `hidden`, (1, L, vocabulary)."""
        ...

    def next_token(self, hidden: Array) -> Array:
        """The greedy token after the last position of `hidden`, shape (1,)."""
        ...


@dataclass(frozen=True)
class BoundedVerifier:
    """The verifier's layers, the rule of each, and what is put back; `chunk` is in tokens of the prompt."""

    backbone: Layers
    restoration: Restoration
    restorer: Restorer
    rules: tuple[LayerRule, ...]
    chunk: int
    arrays: Arrays

    def begin(self) -> EvictingCache:
        """An empty cache for one prompt."""
        strict = self.restoration.eviction == "strict"
        return EvictingCache(self.rules, evicting=strict, restorer=self.restorer.fresh(), arrays=self.arrays)

    def read(self, part: Array, cache: EvictingCache) -> Array:
        """Read one chunk (1, L) of the prompt; returns its last hidden states, not evaluated."""
        cache.begin_chunk(part.shape[1])
        hidden = self.backbone.run(part, cache)
        cache.end_chunk()
        self.arrays.release()
        return hidden

    def end_prompt(self, cache: EvictingCache) -> None:
        """Evict now what `after` lets stand until the whole prompt was read."""
        if self.restoration.eviction == "after":
            cache.evict()

    def go_on(self, cache: EvictingCache) -> None:
        """Make ready to read more after decoding.

        Raises:
            EngineError: eviction `after`, under which what a token sees depends on where the prompt ended.
        """
        if self.restoration.eviction == "after":
            raise EngineError("eviction after takes one prompt; a session that goes on needs eviction strict")
        cache.go_on()

    def longest_block(self, wanted: int) -> int:
        """The most positions, up to `wanted`, that one forward may read (`chunk_length`)."""
        return chunk_length(wanted, self.rules, self.restorer)


def bound_by(
    verifier: LoadedVerifier,
    settings: EngineSettings,
    arrays: Arrays,
    take_apart: Callable[[], Layers],
    load_maps: LoadMaps[Maps],
) -> BoundedVerifier | None:
    """The bounded verifier that `settings` ask for; None for restoration `none`, which bounds nothing.

    The other arguments are what a backend has of its own: its arrays, its layers, the maps of f_theta.

    Raises:
        UsageError: exact layers that the model does not have.
        ModelError: the f_theta is missing, damaged or made for another verifier.
        EngineError: nothing could be evicted or restored, or the model's family cannot be run layer by layer.
    """
    spec, architecture = settings.restoration, verifier.architecture
    restoration = resolve_restoration(spec, architecture.layer_types)
    if restoration.mode == "none":
        return None
    backbone = take_apart()
    restorer: Restorer
    if spec.f_theta is not None:
        restorer, restoration = load_f_theta(spec.f_theta, restoration, load_maps)
    else:
        restorer = make_restorer(restoration.mode)
    rules = layer_rules(restoration, restorer, [layer.native_window for layer in architecture.cache_layers])
    chunk = chunk_length(settings.prefill_chunk, rules, restorer)
    return BoundedVerifier(backbone, restoration, restorer, rules, chunk, arrays)


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
    """Positions read at once: at most a window where layers below the observed one restore from what was observed.

    What such a layer shows a query was observed `window` positions before it or earlier, so in an earlier chunk. By
    the per-query rule the chunk changes no result, only speed.
    """
    below = rules[: restorer.capture_layer or 0]
    windows = [rule.window for rule in below if rule.evicts and rule.policy in ("restore", "rebuild")]
    return min([wanted, *windows])
