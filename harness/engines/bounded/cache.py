"""The K/V cache of the engines that restore: every layer evicts, restores and forgets by its own rule.

A chunk of the prompt or a block of drafts is appended first and settled afterwards: until then nothing that it evicts
is gone. So what was read of a block and not accepted is taken back by settling the rest of it alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.base.clock import Stopwatch
from harness.base.errors import EngineError
from harness.engines.base import Block, Held, SessionStats
from harness.engines.bounded.arrays import Array, Arrays
from harness.engines.bounded.layer_cache import RESTORATION, Counters, LayerCache, LayerGroup
from harness.engines.bounded.layout import CacheLayout, ChunkPlan, LayerRule, visible
from harness.engines.bounded.restoration import Restorer


class EvictingCache:
    """The caches of all layers, in model order, and the groups that plan for them."""

    def __init__(self, rules: Sequence[LayerRule], evicting: bool, restorer: Restorer, arrays: Arrays) -> None:
        """One rule a layer; with `evicting` false nothing is evicted until `evict`."""
        self.counters = self._before_step = Counters()
        self._ahead = 0
        self.watch = Stopwatch(arrays.now)
        self.restorer, self._arrays = restorer, arrays
        groups = {rule: LayerGroup(rule, CacheLayout(rule, evicting)) for rule in dict.fromkeys(rules)}
        self.groups = tuple(groups.values())
        self.layers = tuple(
            LayerCache(index, groups[rule], restorer, self.counters, self.watch, arrays)
            for index, rule in enumerate(rules)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all layers' arrays, and of what the restorer keeps to rebuild others from."""
        return sum(layer.nbytes for layer in self.layers) + self.restorer.nbytes

    def begin_chunk(self, length: int) -> None:
        """Plan a chunk of the prompt and make its masks, each (chunk, resident positions)."""
        self._begin(length, waits=True)

    def begin_block(self, length: int) -> None:
        """Plan a block, a committed token and drafts after it, of which `accept` will say how many stay."""
        self._begin(length, waits=False)

    def _begin(self, length: int, waits: bool) -> None:
        for group in self.groups:
            group.waits = waits
            group.plan = plan = group.layout.plan_chunk(length)
            seen = visible(group.rule, plan)
            if seen is not None:
                self.counters.largest_mask = max(self.counters.largest_mask, seen.shape)
            group.mask = self._arrays.mask(seen, length, len(plan.held))

    def end_chunk(self) -> None:
        """Evaluate the chunk's K/V, then evict, restore and drop."""
        self._arrays.evaluate(self._held())
        for layer in self.layers:
            if isinstance(layer.group.plan, ChunkPlan):
                layer.settle(layer.group.plan)
        self._arrays.evaluate(self._held())

    def accept(self, count: int) -> None:
        """Keep the first `count` positions of a block that was run and evaluated, as though no more had been read."""
        for group in self.groups:
            group.plan = group.layout.replan(count)
        for layer in self.layers:
            if isinstance(layer.group.plan, ChunkPlan):
                layer.accept(layer.group.plan)
        self.restorer.rewind(self.groups[0].layout.next)
        self._arrays.evaluate(self._held())

    def go_on(self) -> None:
        """After decoding, make ready to read more in chunks: slots in the order of their positions."""
        self.take_ahead()
        for group in self.groups:
            slots = group.layout.go_on()
            for layer in self.layers:
                if layer.group is group:
                    layer.go_on(slots)

    def held(self) -> Held:
        """Positions read, by every layer alike, and the most that a layer evicted.

        Raises:
            EngineError: the layers or their plans do not agree.
        """
        counts = {layer.offset for layer in self.layers} | {group.layout.next for group in self.groups}
        if len(counts) != 1:
            raise EngineError(f"layers have read {sorted(counts)} positions; the cache is broken")
        return Held(counts.pop(), max(group.layout.evicted for group in self.groups))

    def _held(self) -> list[tuple[Array | None, Array | None]]:
        return [(layer.keys, layer.values) for layer in self.layers]

    def evict(self) -> None:
        """Evict what stands outside sink + window, after the whole prompt was read."""
        for group in self.groups:
            group.plan = group.layout.plan_eviction()
        for layer in self.layers:
            plan = layer.group.plan
            if isinstance(plan, ChunkPlan) and plan.evicted and layer.group.rule.policy == "restore":
                layer.restore(plan)
        self.end_chunk()

    def observe(self, hidden: Array) -> None:
        """Show the restorer what enters its layer. While the prompt is read it is waited for and timed."""
        self.restorer.observe(hidden, wait=self.groups[0].waits)

    def begin_step(self) -> None:
        """Plan a decode step. No mask is needed: no layer holds what the step may not see."""
        self._before_step = replace(self.counters)
        self._ahead += 1
        for group in self.groups:
            group.plan, group.mask, group.waits = group.layout.plan_step(), None, False

    def telling(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks of a loop that takes a step a token, of which each tells what a step came to."""
        for block in blocks:
            self._ahead -= 1
            yield block

    def take_ahead(self) -> None:
        """Something is read behind a step that ran ahead, or its token is told after all."""
        self._ahead = 0

    def remade(self) -> list[object]:
        """K/V to write back, and what the restorer kept: to be evaluated with the forward that made them."""
        return [*(layer.remade for layer in self.layers if layer.remade is not None), *self.restorer.arrays()]

    def stats(self) -> SessionStats:
        """What was counted but for a step that is ahead, and the bytes now held."""
        counted = self._before_step if self._ahead else self.counters
        return SessionStats(
            restored_positions=counted.restored,
            evicted_positions=counted.evicted,
            restoration_s=self.watch.total(RESTORATION),
            aux_s=self.restorer.seconds,
            kv_bytes=self.nbytes,
            fallbacks=(),
        )
