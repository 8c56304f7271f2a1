"""Which positions a layer's cache holds, where, and who may see them. Ints and numpy only, no tensors.

A query at position q sees its own K/V at p when p < sink or q - p <= window, and K/V that restoration put at p when
q - p > window; in a layer with a native window W only while q - p < W. This is a rule per query, so nothing depends
on how the prompt is cut into chunks. What leaves sink + window is *evicted*; what leaves W is *expired*.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Policy = Literal["keep", "restore", "drop", "rebuild"]
Positions = NDArray[np.int64]
GROWTH = 256


@dataclass(frozen=True)
class LayerRule:
    """How a layer treats positions that leave sink + window: keep its own K/V, restore there, or drop them.

    `rebuild` drops them too, and shows in every forward K/V made anew for them (`LayerRule.rebuilt`), held nowhere.
    """

    policy: Policy
    sink: int = 0
    window: int = 0
    native_window: int | None = None

    @property
    def evicts(self) -> bool:
        """Whether anything can be evicted: not where the native window expires it first."""
        return self.policy != "keep" and (self.native_window is None or self.window + 1 < self.native_window)

    @property
    def capacity(self) -> int | None:
        """The most positions resident during one step, the query's own included; None grows without bound."""
        if self.drops:
            return self.sink + self.window + 1
        return self.native_window

    @property
    def drops(self) -> bool:
        """Whether the K/V of evicted positions leave the arrays."""
        return self.evicts and self.policy in ("drop", "rebuild")

    def rebuilt(self, first: int, last: int) -> range:
        """Positions that left sink + window and that some query from `first` to `last` sees rebuilt."""
        if not self.evicts or self.policy != "rebuild":
            return range(0)
        oldest = max(self.sink, first - self.native_window + 1) if self.native_window is not None else self.sink
        return range(oldest, max(oldest, last - self.window))


@dataclass(frozen=True)
class ChunkPlan:
    """One chunk of the prompt, or a block: `length` positions from `first`, appended behind the resident ones.

    `held` are the positions by slot after the append. `evicted` leave the window by the end of the chunk and stand
    in slots from `evicted_slot` on; those below `restored_before` left (and were restored, if the layer restores)
    in an earlier chunk. `crosses_window`: some of them leave the window of a query of this very chunk, so that a
    restoring layer must show what it restored there, in columns of its own behind the own K/V. `kept` are the slots
    to keep for the next query, None if all of them. `rebuilt` are the positions a rebuilding layer shows in columns of
    its own.
    """

    first: int
    length: int
    held: Positions
    evicted: range
    evicted_slot: int
    restored_before: int
    crosses_window: bool
    kept: Positions | None
    rebuilt: range


@dataclass(frozen=True)
class StepPlan:
    """One decode step: the new K/V go to `slot`, and the first `used` slots are all visible.

    `leaving` is the position that will be evicted at the next step, with its slot, so that what replaces it can be
    made ahead. `rebuilt` are the positions a rebuilding layer shows behind its slots. `compact` lists the slots to
    keep first, in order, when more left than arrives; `capacity` is what the arrays must hold.
    """

    slot: int
    used: int
    capacity: int
    evicted: int | None
    evicted_slot: int
    expired: int
    leaving: tuple[int, int] | None
    compact: Positions | None
    rebuilt: range


class CacheLayout:
    """The positions held by all layers that follow one rule; the layers' arrays follow its plans in step."""

    def __init__(self, rule: LayerRule, evicting: bool) -> None:
        """Start empty; with `evicting` false nothing is evicted until `plan_eviction`."""
        self.rule = rule
        self.next = 0
        self._evicting = evicting and rule.evicts
        self._held: Positions = np.empty(0, dtype=np.int64)
        self._frontier = rule.sink
        self._before = self.next, self._held, self._frontier
        self._slots: dict[int, int] | None = None
        self._oldest = 0
        self._capacity = 0

    @property
    def evicted(self) -> int:
        """Positions that have left sink + window so far."""
        return max(0, self._frontier - self.rule.sink)

    def go_on(self) -> Positions:
        """After decode steps, plan chunks again: the slots held, in the order of their positions, which they get."""
        if self._slots is None:
            return np.arange(len(self._held))
        order = sorted(self._slots.items())
        self._held = np.array([position for position, _ in order], dtype=np.int64)
        self._slots = None
        return np.array([slot for _, slot in order], dtype=np.int64)

    def plan_chunk(self, length: int) -> ChunkPlan:
        """Plan the next `length` positions of the prompt or of a block, and take them as read."""
        self._before = self.next, self._held, self._frontier
        first, end = self.next, self.next + length
        self._held = np.concatenate([self._held, np.arange(first, end)])
        self.next = end
        return self._leave(first, length)

    def replan(self, length: int) -> ChunkPlan:
        """Plan the latest chunk again, as though only its first `length` positions had ever been read.

        Its arrays must not be settled by the first plan yet: until then nothing that it evicts is gone.
        """
        self.next, self._held, self._frontier = self._before
        return self.plan_chunk(length)

    def plan_eviction(self) -> ChunkPlan:
        """Begin to evict: what stands outside sink + window leaves now, without a chunk of its own."""
        self._evicting = self.rule.evicts
        return self._leave(self.next, 0)

    def _leave(self, first: int, length: int) -> ChunkPlan:
        """Decide what leaves before position `self.next` is read."""
        before, held = self._frontier, self._held
        if self._evicting:
            self._frontier = max(before, self.next - self.rule.window)
        slot = int(np.searchsorted(held, before))
        oldest = int(held[slot]) if slot < len(held) else self._frontier
        evicted = range(min(oldest, self._frontier), self._frontier)
        stays = np.ones(len(held), dtype=bool)
        if self.rule.native_window is not None:
            stays &= held >= self.next - self.rule.native_window
        if self._evicting and self.rule.drops:
            stays &= (held < self.rule.sink) | (held >= self._frontier)
        self._held = held[stays]
        return ChunkPlan(
            first=first,
            length=length,
            held=held,
            evicted=evicted,
            evicted_slot=slot,
            restored_before=before,
            crosses_window=length > 0 and len(evicted) > 0 and self.next - 1 - before > self.rule.window,
            kept=None if stays.all() else np.flatnonzero(stays),
            rebuilt=self._rebuilt(first, self.next - 1) if length else range(0),
        )

    def _rebuilt(self, first: int, last: int) -> range:
        return self.rule.rebuilt(first, last) if self._evicting else range(0)

    def plan_step(self) -> StepPlan:
        """Plan the decode step of position `self.next`, and take it as read."""
        if self._slots is None:
            self._slots = {int(position): slot for slot, position in enumerate(self._held)}
            self._oldest = int(self._held[0]) if len(self._held) else 0
            self._capacity = len(self._held)
        position, slots = self.next, self._slots
        evicted, evicted_slot, free = self._evict_for(position)
        expired = self._expire_for(position, free)
        compact = self._close_holes(free) if len(free) > 1 else None
        slot = free.pop() if free else len(slots)
        slots[position] = slot
        self.next += 1
        if slot >= self._capacity:
            self._capacity = min(self._capacity + GROWTH, self.rule.capacity or self._capacity + GROWTH)
        rebuilt = self._rebuilt(position, position)
        return StepPlan(
            slot, len(slots), self._capacity, evicted, evicted_slot, expired, self._leaving(), compact, rebuilt
        )

    def _evict_for(self, position: int) -> tuple[int | None, int, list[int]]:
        """Evict the one position that leaves the window when `position` is read, if any."""
        leaving = position - self.rule.window - 1
        if not self._evicting or leaving < self._frontier:
            return None, 0, []
        self._frontier = leaving + 1
        if self.rule.policy == "restore":
            return leaving, self._slots_of()[leaving], []
        slot = self._slots_of().pop(leaving)
        return leaving, slot, [slot]

    def _leaving(self) -> tuple[int, int] | None:
        """The position that leaves the window when `self.next` is read, and its slot."""
        position = self.next - self.rule.window - 1
        if not self._evicting or position < self._frontier:
            return None
        return position, self._slots_of()[position]

    def _expire_for(self, position: int, free: list[int]) -> int:
        """Let go what the native window of `position` no longer covers; returns how many."""
        expired = 0
        if self.rule.native_window is None:
            return expired
        slots = self._slots_of()
        while self._oldest <= position - self.rule.native_window:
            slot = slots.pop(self._oldest, None)
            if slot is not None:
                free.append(slot)
                expired += 1
            self._oldest += 1
        return expired

    def _close_holes(self, free: list[int]) -> Positions:
        """Renumber the slots so that the used ones come first; returns the old slots in their new order."""
        slots = self._slots_of()
        order = sorted(slots.items(), key=lambda item: item[1])
        for new, (position, _) in enumerate(order):
            slots[position] = new
        free.clear()
        self._capacity = len(order)
        return np.array([old for _, old in order], dtype=np.int64)

    def _slots_of(self) -> dict[int, int]:
        if self._slots is None:
            raise RuntimeError("decode bookkeeping was used before the first step")
        return self._slots


def visible(rule: LayerRule, plan: ChunkPlan) -> NDArray[np.bool_] | None:
    """Who sees what in a chunk, shape (queries, positions held), then the restored or rebuilt ones if it shows any.

    Returns None when everything up to a query's own position is visible to it, and to a single query everything.
    """
    last = plan.first + plan.length - 1
    native = rule.native_window or last + 1
    oldest = min([int(plan.held[0]), *plan.rebuilt[:1]])
    within_native = last - oldest < native
    if within_native and not plan.crosses_window and not plan.rebuilt:
        return None
    queries = np.arange(plan.first, last + 1, dtype=np.int32)[:, None]
    positions = plan.held.astype(np.int32)[None]
    seen = positions <= queries
    if plan.crosses_window or plan.rebuilt:
        near = positions >= queries - rule.window
        near |= positions < (plan.restored_before if rule.policy == "restore" else rule.sink)
        seen &= near
    beside = plan.evicted if plan.crosses_window and rule.policy == "restore" else plan.rebuilt
    if beside:
        restored = np.arange(beside.start, beside.stop, dtype=np.int32)[None]
        seen = np.concatenate([seen, restored < queries - rule.window], axis=1)
        positions = np.concatenate([positions, restored], axis=1)
    if not within_native:
        seen &= positions > queries - native
    return None if seen.all() else seen
