"""A replay arm by arm: rows that came out the same, and how fast the arm was beside the plain model, there and here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from gate.figures.replay.confirmed import allowance
from gate.figures.replay.differences import differences, near_tie
from gate.rulebook.report_view import ReportView

if TYPE_CHECKING:
    from reports.records.conduct.replay import AnyRow, ReplayedRow


@dataclass(frozen=True)
class ArmReplayed:
    """Drawn rows of an arm by outcome.

    The ratios are of decode rates, each over the plain model's drawn rows on the same machine; they are told and never
    judged.
    """

    arm: str
    rows: int
    drawn: int
    same: int
    near_ties: int
    other: int
    not_run: int
    ratio_original: float | None
    ratio_here: float | None


def by_arm(view: ReportView) -> Iterator[ArmReplayed]:
    """Every arm that was drawn from, in the order of the report."""
    replay = view.report.replay
    if replay is None:
        return
    may = allowance(view, replay)
    of_oracle = [row for row in replay.rows if row.arm == "oracle"]
    for one in replay.population:
        own = [row for row in replay.rows if row.arm == one.arm]
        ran = [row for row in own if row.replayed is not None]
        same = [row for row in ran if not differences(row, may)]
        ties = sum(near_tie(row, may) for row in same)
        yield ArmReplayed(
            arm=one.arm,
            rows=one.rows,
            drawn=len(own),
            same=len(same) - ties,
            near_ties=ties,
            other=len(ran) - len(same),
            not_run=len(own) - len(ran),
            ratio_original=_over(_rate(own, here=False), _rate(of_oracle, here=False)),
            ratio_here=_over(_rate(own, here=True), _rate(of_oracle, here=True)),
        )


def _over(rate: float | None, oracle: float | None) -> float | None:
    return rate / oracle if rate is not None and oracle else None


def _rate(rows: list[ReplayedRow], *, here: bool) -> float | None:
    """Median tokens a second of these rows' decoding; none where no row tells both."""
    found = [_tokens_a_second(row.replayed if here else row.original) for row in rows if row.replayed is not None]
    rates = [rate for rate in found if rate is not None]
    return median(rates) if rates else None


def _tokens_a_second(row: AnyRow | None) -> float | None:
    tokens, seconds = getattr(row, "decode_tokens", None), getattr(row, "decode_s", None)
    return tokens / seconds if tokens and seconds and seconds > 0 else None
