"""The K/V of one layer: what it holds, evicts, restores and forgets, by the plan of its group.

mlx-lm's layers only need `offset` and `update_and_fetch`. Positions and RoPE are absolute; the order of slots is
free, since attention does not depend on it. There is deliberately no `bits` (mlx-lm would take the cache for a
quantised one) and no `__len__` (an empty cache would be falsy).
"""

from dataclasses import dataclass, field

import numpy as np

from harness.base.clock import Stopwatch
from harness.base.errors import EngineError
from harness.engines.bounded.arrays import Array, Arrays
from harness.engines.bounded.layout import GROWTH, CacheLayout, ChunkPlan, LayerRule, Positions, StepPlan
from harness.engines.bounded.restoration import Evicted, Restorer

RESTORATION = "restoration"
"""The stage of the stopwatch in which K/V are restored."""


@dataclass
class Counters:
    """(layer, position) pairs, counted where arrays are written, rebuilt for the first time, or dropped.

    A loop may run a step ahead of the token that it tells. What that step does is counted once its token is told, or
    once more is read behind it. `largest_mask` is (queries, keys).
    """

    restored: int = 0
    evicted: int = 0
    expired: int = 0
    largest_mask: tuple[int, int] = (0, 0)


@dataclass
class LayerGroup:
    """Layers that follow one rule, the plan they are executing and the mask it needs.

    `waits`: restoration is waited for and timed apart, as it is while the prompt is read and not while decoding.
    """

    rule: LayerRule
    layout: CacheLayout
    plan: ChunkPlan | StepPlan | None = None
    mask: Array | str | None = None
    waits: bool = False


@dataclass
class LayerCache:
    """K/V of one layer: `keys` and `values` are (1, K/V heads, slots, head size), None before the first chunk.

    `remade` is what the restorer made for positions that are being evicted, until it is written. `rebuilt_until` is
    the position up to which a rebuilding layer has shown rebuilt K/V.
    """

    layer: int
    group: LayerGroup
    restorer: Restorer
    counters: Counters
    watch: Stopwatch
    arrays: Arrays
    offset: int = 0
    keys: Array | None = None
    values: Array | None = None
    remade: tuple[Array, Array] | None = field(default=None, repr=False)
    rebuilt_until: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays held, spare slots included."""
        if self.keys is None or self.values is None:
            return 0
        return int(self.keys.nbytes + self.values.nbytes)

    def update_and_fetch(self, keys: Array, values: Array) -> tuple[Array, Array]:
        """Take the K/V of the new positions and return those the group's mask speaks of, as mlx-lm's layers expect."""
        plan = self.group.plan
        self.offset += keys.shape[2]
        if isinstance(plan, StepPlan):
            return self._step(plan, keys, values)
        if isinstance(plan, ChunkPlan):
            return self._read(plan, keys, values)
        raise EngineError(f"layer {self.layer} was run without a plan")

    def _read(self, plan: ChunkPlan, keys: Array, values: Array) -> tuple[Array, Array]:
        """Append a chunk; where a query needs restored K/V, they follow the own ones."""
        keys, values = self._append(len(plan.held) - plan.length, keys, values)
        if plan.rebuilt:
            return self._with_rebuilt(plan.rebuilt, keys, values)
        if self.group.rule.policy != "restore" or not plan.evicted:
            return keys, values
        restored_keys, restored_values = self.restore(plan)
        if not plan.crosses_window:
            return keys, values
        return self._joined(keys, restored_keys), self._joined(values, restored_values)

    def _append(self, used: int, keys: Array, values: Array) -> tuple[Array, Array]:
        """Put new K/V behind the `used` slots and return all that is held, without the room to spare.

        A layer without a bound has room for blocks to be written in place; all other arrays are as long as what they
        hold, since a bounded one is about to drop something anyway.
        """
        if self.group.rule.capacity is None and not self.group.waits:
            stop = used + keys.shape[2]
            if self.keys is None or self.keys.shape[2] < stop:
                self._grow(stop + GROWTH, keys, values)
            self._write(used, keys, values)
            held_keys, held_values = self._own()
            return held_keys[..., :stop, :], held_values[..., :stop, :]
        if self.keys is not None and self.values is not None:
            keys, values = self._joined(self.keys, keys), self._joined(self.values, values)
        self.keys, self.values = keys, values
        return keys, values

    def _with_rebuilt(self, positions: range, keys: Array, values: Array) -> tuple[Array, Array]:
        """The K/V held, then those rebuilt at `positions` for this forward alone."""
        if self.group.waits:
            self.arrays.evaluate(keys, values)
            with self.watch.stage(RESTORATION):
                rebuilt_keys, rebuilt_values = self.restorer.rebuild(self.layer, positions)
                self.arrays.evaluate(rebuilt_keys, rebuilt_values)
        else:
            rebuilt_keys, rebuilt_values = self.restorer.rebuild(self.layer, positions)
        return self._joined(keys, rebuilt_keys), self._joined(values, rebuilt_values)

    def _count_rebuilt(self, positions: range) -> None:
        """Count positions that were rebuilt for the first time."""
        first_time = positions.stop - max(positions.start, self.rebuilt_until)
        self.counters.restored += max(0, first_time)
        self.rebuilt_until = max(self.rebuilt_until, positions.stop)

    def restore(self, plan: ChunkPlan) -> tuple[Array, Array]:
        """Move out what `plan` evicts and make what replaces it; `settle` writes it. Timed apart from prefill."""
        slots = range(plan.evicted_slot, plan.evicted_slot + len(plan.evicted))
        if not self.group.waits:
            self.remade = self._remake(plan.evicted, slots)
            return self.remade
        self.arrays.evaluate(self.keys, self.values)
        with self.watch.stage(RESTORATION):
            self.remade = self._remake(plan.evicted, slots)
            self.arrays.evaluate(*self.remade)
        return self.remade

    def _remake(self, positions: range, slots: range) -> tuple[Array, Array]:
        """Copies of the K/V in `slots` through the restorer."""
        keys, values = self._own()
        moved = Evicted(self.layer, positions, self.arrays.take(keys, slots), self.arrays.take(values, slots))
        keys, values = self.restorer.restore(moved)
        if keys.shape != moved.keys.shape or values.shape != moved.values.shape:
            raise EngineError(f"restoration {self.restorer.mode} returned K/V of another shape for layer {self.layer}")
        return keys, values

    def settle(self, plan: ChunkPlan) -> None:
        """After a chunk: write restored K/V over the evicted ones, drop what no later query may see."""
        self.counters.evicted += len(plan.evicted)
        self._count_rebuilt(plan.rebuilt)
        if plan.evicted and self.group.rule.policy == "restore":
            self._write_restored(plan)
        self.remade = None
        if plan.kept is not None:
            leaving = len(plan.held) - len(plan.kept)
            dropped = len(plan.evicted) if self.group.rule.drops else 0
            self.counters.expired += leaving - dropped
            self._keep(plan.kept)

    def go_on(self, slots: Positions) -> None:
        """After decoding: hold the K/V in `slots`, in that order, and no room to spare."""
        self.remade = None
        if self.keys is not None and (self.keys.shape[2] != len(slots) or np.any(slots != np.arange(len(slots)))):
            self._keep(slots)

    def accept(self, plan: ChunkPlan) -> None:
        """After a block: settle by `plan`, made anew for the positions that were accepted, and let go of the others."""
        self.offset = plan.first + plan.length
        if plan.kept is None and self.group.rule.capacity is not None and self._own()[0].shape[2] > len(plan.held):
            self._keep(range(len(plan.held)))
        self.settle(plan)

    def _write_restored(self, plan: ChunkPlan) -> None:
        """Put the remade K/V where the evicted ones of a chunk stand."""
        if not self.group.waits:
            self._put_back(plan.evicted_slot, len(plan.evicted))
            return
        with self.watch.stage(RESTORATION):
            self._put_back(plan.evicted_slot, len(plan.evicted))
            self.arrays.evaluate(self.keys, self.values)

    def _put_back(self, slot: int, count: int) -> None:
        """Write the first `count` of the remade K/V over the evicted ones from `slot` on."""
        if self.remade is None:
            raise EngineError(f"layer {self.layer} evicted K/V that were never restored")
        keys, values = self.remade
        self._write(slot, keys[..., :count, :], values[..., :count, :])
        self.counters.restored += count
        self.remade = None

    def _step(self, plan: StepPlan, keys: Array, values: Array) -> tuple[Array, Array]:
        """One decode step: restore or drop what leaves, write the new position in place, remake what leaves next.

        Remaking a step ahead keeps the copy out of the graph that writes: while both are in one graph, the arrays
        have two users and MLX copies them whole instead of writing in place.
        """
        restoring = self.group.rule.policy == "restore"
        if plan.evicted is not None:
            self.counters.evicted += 1
            if restoring:
                self._put_back(plan.evicted_slot, 1)
        self.counters.expired += plan.expired
        if plan.compact is not None:
            self._keep(plan.compact)
        if self.keys is None or self.keys.shape[2] < plan.capacity:
            self._grow(plan.capacity, keys, values)
        self._write(plan.slot, keys, values)
        if restoring and plan.leaving is not None:
            position, slot = plan.leaving
            self.remade = self._remake(range(position, position + 1), range(slot, slot + 1))
        held_keys, held_values = self._own()
        if plan.used < plan.capacity:
            held_keys, held_values = held_keys[..., : plan.used, :], held_values[..., : plan.used, :]
        if plan.rebuilt:
            self._count_rebuilt(plan.rebuilt)
            return self._with_rebuilt(plan.rebuilt, held_keys, held_values)
        return held_keys, held_values

    def _joined(self, first: Array, second: Array) -> Array:
        """One after the other, slot by slot."""
        return self.arrays.join([first, second], 2)

    def _own(self) -> tuple[Array, Array]:
        """The arrays, once there are some."""
        if self.keys is None or self.values is None:
            raise EngineError(f"layer {self.layer} holds no K/V yet")
        return self.keys, self.values

    def _write(self, slot: int, keys: Array, values: Array) -> None:
        """Write K/V over the slots from `slot` on, in place."""
        held_keys, held_values = self._own()
        stop = slot + keys.shape[2]
        held_keys[..., slot:stop, :] = keys
        held_values[..., slot:stop, :] = values

    def _keep(self, slots: Positions | range) -> None:
        """Keep only `slots`, in that order; what is dropped is freed."""
        keys, values = self._own()
        self.keys, self.values = self.arrays.take(keys, slots), self.arrays.take(values, slots)

    def _grow(self, capacity: int, keys: Array, values: Array) -> None:
        """Make room for `capacity` slots; `keys` and `values` give shapes and types."""
        held = 0 if self.keys is None else self.keys.shape[2]
        room_k = self.arrays.zeros((*keys.shape[:2], capacity - held, keys.shape[3]), keys)
        room_v = self.arrays.zeros((*values.shape[:2], capacity - held, values.shape[3]), values)
        if self.keys is None or self.values is None:
            self.keys, self.values = room_k, room_v
        else:
            self.keys, self.values = self._joined(self.keys, room_k), self._joined(self.values, room_v)
