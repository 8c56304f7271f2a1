"""The native cache of a verifier whose shape K3 knows: what it must and may hold, whatever the report says of it."""

from __future__ import annotations

from dataclasses import dataclass

from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP
from reports.known_models import KNOWN_CACHES, KNOWN_WEIGHTS

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}

SLIDING = "sliding_attention"


@dataclass(frozen=True)
class KnownCache:
    """Kinds of the layers, bytes of one position in each, and the positions that a sliding layer keeps."""

    layer_types: tuple[str, ...]
    bytes_a_position: int
    window: int | None

    def least_positions(self, kind: str, positions: int) -> int:
        """Of so many positions, those that a layer of this kind keeps."""
        return min(positions, self.window) if kind == SLIDING and self.window is not None else positions

    def bounds(self, positions: int) -> tuple[float, float]:
        """Bytes of a cache with so many positions: a layer grows in steps, a sliding one up to its window, and the loop
        of the oracle is up to two tokens ahead of what it has emitted."""
        room = positions + CACHE_STEP.value + 2
        least = sum(self.least_positions(kind, positions) for kind in self.layer_types)
        most = sum(self.least_positions(kind, room) for kind in self.layer_types)
        return least * self.bytes_a_position * (1 - MEMORY_GAP.value), float(most * self.bytes_a_position)


def known_cache(view: ReportView) -> KnownCache | None:
    """The cache of the report's verifier; none of weights that K3 does not know, or in a type of unknown size."""
    verifier, provenance = view.verifier, view.report.provenance
    shape = KNOWN_CACHES.get(KNOWN_WEIGHTS.get(verifier.weights or "", "")) if verifier is not None else None
    if verifier is None or provenance is None or shape is None or not verifier.layer_types:
        return None
    size = _BYTES.get((provenance.runtime.dtype if provenance.runtime is not None else verifier.dtype) or "")
    return KnownCache(verifier.layer_types, shape.numbers * size, shape.window) if size is not None else None
