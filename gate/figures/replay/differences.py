"""Where a row, or a fact, came out otherwise than the report has it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gate.rulebook.thresholds import REPLAY_FLOOR, REPLAY_TOLERANCE, REPLAY_TOLERANCE_ELSEWHERE

if TYPE_CHECKING:
    from reports.records.conduct.replay import ReplayedRow
    from reports.records.measurement import AuditedStream

_TIMES = {
    "restoration_s", "aux_s", "prefill_s", "decode_s", "e2e_s", "round_trip", "draft_s", "verify_s", "extend_s",
    "rollback_s", "seconds",
}  # fmt: skip
_OF_ITS_RUN = {"order", "peak_bytes", "mean_accept_len"}
"""What a row owes to the rows before it, or to how a tool prints."""

_OF_ITS_RUNTIME = {"decode_loop", "kv_bytes_prefill", "kv_bytes_decode", "drafter_bytes_prefill"}
"""What MLX and PyTorch do each in its own way: the plain model's loop, and the room that a cache keeps to spare."""

_AFTER_A_TIE = {
    "token_ids", "text", "correct", "stop_reason", "decode_tokens", "kv_bytes_decode", "speculation",
    "restored_positions", "evicted_positions",
}  # fmt: skip
"""What is about the rest of a stream, once a numerical tie fell the other way."""

_POSITIONS = ("evicted_positions", "restored_positions")


class Allowance(NamedTuple):
    """What may be otherwise: a stream from a tie on, where machines or runtimes differ, by a logit gap of up to `tie`;
    there numbers that are no counts may differ by more, too.

    `layers` is how many the verifier has.
    """

    tie: float | None
    other_runtime: bool
    layers: int

    @property
    def share(self) -> float:
        """Up to which share of its value a number that is no count may differ."""
        return (REPLAY_TOLERANCE if self.tie is None else REPLAY_TOLERANCE_ELSEWHERE).value


class Difference(NamedTuple):
    """A field with its value in the report and here."""

    field: str
    original: str
    replayed: str


def differences(row: ReplayedRow, may: Allowance) -> list[Difference]:
    """What did not come out the same, of everything that the report recorded; nothing of a row that did not run."""
    if row.replayed is None:
        return []
    left_out = _AFTER_A_TIE if near_tie(row, may) else set()
    left_out = left_out | (_OF_ITS_RUNTIME if may.other_runtime else set())
    left_out = left_out | (set(_POSITIONS) if _counted_ahead(row, may.layers) else set())
    ours, theirs = (one.model_dump(mode="json", exclude_none=True) for one in (row.original, row.replayed))
    compared = {name: value for name, value in ours.items() if name not in left_out}
    found = list(_unlike(compared, theirs, "", may.share))
    return found + list(_unlike_audits(row, may.tie))


def _counted_ahead(row: ReplayedRow, layers: int) -> bool:
    """The stream ended at a stop token, and the report counts up to one position a layer more: earlier versions counted
    on MLX the step that was in flight when the stop token came."""
    if getattr(row.original, "stop_reason", None) in (None, "length"):
        return False
    evicted, restored = (_count(row.original, name) - _count(row.replayed, name) for name in _POSITIONS)
    return 0 < evicted <= layers and restored in (0, evicted)


def _count(row: Any, name: str) -> int:
    """What a row counted; nothing where rows of its kind, as those of codecs, count no such thing."""
    return getattr(row, name, None) or 0


def near_tie(row: ReplayedRow, may: Allowance) -> bool:
    """The stream is another one, and the verifier here calls every token of the original's its own choice, or tied."""
    tie = may.tie
    ours, theirs = getattr(row.original, "token_ids", None), getattr(row.replayed, "token_ids", None)
    if tie is None or row.audit is None or ours is None or theirs is None or ours == theirs:
        return False
    if may.other_runtime and row.original_audit is None:
        return False
    parted = next((place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    return parted in {miss.position for miss in row.audit.mismatches} and all(
        0 <= miss.gap <= tie for miss in row.audit.mismatches
    )


def _unlike_audits(row: ReplayedRow, tie: float | None) -> Iterator[Difference]:
    """Tokens that one of the two audits calls another than the verifier's choice; ties on another machine aside."""
    if row.original_audit is None:
        return
    if row.audit is None:
        yield Difference("stream_audit", "audited", "not audited")
        return
    ours, theirs = _misses(row.original_audit), _misses(row.audit)
    for position in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(position), theirs.get(position)
        gap = max(miss[1] for miss in (one, other) if miss is not None)
        if one is None or other is None:
            unlike = tie is None or gap > tie
        else:
            apart = abs(one[1] - other[1]) > max(tie or 0.0, REPLAY_TOLERANCE.value)
            unlike = apart or (tie is None and one[0] != other[0])
        if unlike:
            yield Difference(f"stream_audit.{position}", str(one), str(other))


def _misses(audit: AuditedStream) -> dict[int, tuple[int, float]]:
    return {miss.position: (miss.argmax, miss.gap) for miss in audit.mismatches}


def _unlike(original: Any, replayed: Any, field: str, share: float) -> Iterator[Difference]:
    if isinstance(original, dict) and isinstance(replayed, dict):
        for name, value in original.items():
            if name not in _TIMES | _OF_ITS_RUN and not name.startswith("stated_"):
                yield from _unlike(value, replayed.get(name), f"{field}.{name}".removeprefix("."), share)
    elif isinstance(original, list) and isinstance(replayed, list) and len(original) == len(replayed):
        for place, (one, other) in enumerate(zip(original, replayed, strict=True)):
            yield from _unlike(one, other, f"{field}.{place}", share)
    elif not _same(original, replayed, share):
        yield Difference(field, _short(original), _short(replayed))


def _same(original: Any, replayed: Any, share: float) -> bool:
    if type(original) is float and type(replayed) in (int, float):
        return math.isclose(original, replayed, rel_tol=share, abs_tol=REPLAY_FLOOR.value)
    return type(original) is type(replayed) and bool(original == replayed)


def _short(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
