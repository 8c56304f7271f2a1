"""Whether a stream is the oracle's: exact, a near tie, or divergent. Pure functions on ints and audits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reports.records.measurement import AuditedStream

Outcome = Literal["exact", "near_tie", "divergent"]


@dataclass(frozen=True)
class Comparison:
    """The outcome; where the streams part (or the first untied mismatch is), and the verifier's logit gap there."""

    outcome: Outcome
    position: int | None = None
    gap: float | None = None


def compare_streams(
    oracle: Sequence[int], stream: Sequence[int], audits: Sequence[AuditedStream], tie: float
) -> Comparison:
    """Compare `stream` with `oracle`, given the audits of both (that of `stream` last).

    exact: the same tokens. near_tie: they part where an audit saw a mismatch of a gap of at most `tie`, two tokens
    between which f32 noise decides; what follows is then another stream, of which every token must be the
    verifier's choice too. divergent: anything else.
    """
    for miss in audits[-1].mismatches:
        if miss.gap > tie:
            return Comparison("divergent", miss.position, miss.gap)
    if list(oracle) == list(stream):
        return Comparison("exact")
    shorter = min(len(oracle), len(stream))
    place = next((at for at in range(shorter) if oracle[at] != stream[at]), shorter)
    gaps = [miss.gap for audit in audits for miss in audit.mismatches if miss.position == place]
    if gaps and max(gaps) <= tie:
        return Comparison("near_tie", place, max(gaps))
    return Comparison("divergent", place, max(gaps, default=None))
