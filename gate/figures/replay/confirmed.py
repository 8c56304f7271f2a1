"""How much of a report a replay has confirmed, and where it says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gate.figures.replay.differences import Allowance, Difference, differences, near_tie
from gate.figures.statistics.hypergeometric import most_false
from gate.rulebook.near_ties import tie_gap
from gate.rulebook.report_view import ReportView
from reports.engines import MLX

if TYPE_CHECKING:
    from reports.records.conduct.replay import ReplayedFact, ReplayedRow, ReplayResult

WHOLE = ""
"""In the place of an arm: what is about every arm of the report."""


@dataclass(frozen=True)
class ReplayBasis:
    """What the share of confirmed rows stands on; the fields are those of `ReplayClaim`."""

    drawn: int
    rows: int
    near_ties: int
    not_run: int
    false_at_most: float


@dataclass(frozen=True)
class Confirmed:
    """Rows by outcome, of those drawn and of all."""

    same: int
    basis: ReplayBasis

    @property
    def share(self) -> float:
        """Of the drawn rows those that came out the same, or apart by a tie."""
        return (self.same + self.basis.near_ties) / self.basis.drawn


@dataclass(frozen=True)
class Disagreement:
    """One row, or one fact, that is not what the report says; `arm` is empty where it is about all of them."""

    arm: str
    where: str
    found: tuple[Difference, ...]


def confirmed(view: ReportView) -> Confirmed | None:
    """What the replay's rows come to; none without one, or where nothing was drawn.

    The bound rests on the random sample alone. A row of it that disagrees or could not run counts as false.
    """
    from reports.replays.draw import draw

    replay = view.report.replay
    if replay is None or not replay.rows:
        return None
    may = allowance(view, replay)
    total = sum(one.rows for one in replay.population)
    bad = {(row.arm, row.place) for row in replay.rows if row.replayed is None or differences(row, may)}
    ran = [row for row in replay.rows if row.replayed is not None and (row.arm, row.place) not in bad]
    ties = sum(near_tie(row, may) for row in ran)
    sampled = [one for one in draw(replay.original, replay.seed, replay.asked, replay.population) if one.sampled]
    most = most_false(total, len(sampled), sum((one.arm, one.place) in bad for one in sampled)) if sampled else total
    basis = ReplayBasis(
        drawn=len(replay.rows),
        rows=total,
        near_ties=ties,
        not_run=sum(row.replayed is None for row in replay.rows),
        false_at_most=min(1.0, max(most, len(bad)) / max(total, 1)),
    )
    return Confirmed(len(ran) - ties, basis)


def disagreements(view: ReportView) -> list[Disagreement]:
    """Every fact and row that came out otherwise."""
    replay = view.report.replay
    if replay is None:
        return []
    may = allowance(view, replay)
    ran = {row.arm for row in replay.rows if row.replayed is not None}
    unlike = (fact for fact in replay.facts if fact.replayed != fact.original and not _may_differ(fact, ran, may))
    facts = list(map(_of_fact, unlike))
    return facts + [_of_row(row, found) for row in replay.rows if (found := differences(row, may))]


def other_runtime(view: ReportView) -> bool:
    """Whether the rows were run again on PyTorch and had been made with MLX, or the other way round."""
    replay = view.report.replay
    before = replay.original_runtime if replay is not None else None
    return replay is not None and (before.backend if before is not None else MLX) != view.backend


def replay_metric(view: ReportView) -> Literal["rows_replayed", "runtime_parity"]:
    """What the claim of a replay is called."""
    return "runtime_parity" if other_runtime(view) else "rows_replayed"


def allowance(view: ReportView, replay: ReplayResult) -> Allowance:
    """What may be otherwise in a row, between these two machines and runtimes."""
    other = other_runtime(view)
    return Allowance(tie_gap(view) if other else _tie_of(view, replay), other, view.layers or 0)


def _tie_of(view: ReportView, replay: ReplayResult) -> float | None:
    """The logit gap that counts as a tie where the machines, or what they compute on, differ; none where not."""
    here = view.report.provenance
    before = replay.original_host, replay.original_runtime
    if here is None or here.host is None or (here.host, here.runtime) != before:
        return tie_gap(view)
    ours, theirs = (
        {(one.name, one.version) for one in packages if one.name != "k3"}
        for packages in (here.packages or (), replay.original_packages)
    )
    return None if ours == theirs else tie_gap(view)


def _may_differ(fact: ReplayedFact, ran: set[str], may: Allowance) -> bool:
    """It is not here, rightly: the name of a model that lies in a folder, or of an arm none of whose rows could run.
    Or it is what the other runtime calls its loop, its drafter and the type it computes in."""
    arm, field = _arm(fact), fact.field.rpartition(".")[2]
    if may.other_runtime and (field == "dtype" or (arm != WHOLE and field in ("decode_loop", "drafter"))):
        return True
    if fact.replayed is not None:
        return False
    return (fact.field.startswith("models.") and fact.field.endswith(".id")) or (arm != WHOLE and arm not in ran)


def _arm(fact: ReplayedFact) -> str:
    part, _, rest = fact.field.partition(".")
    return rest.rpartition(".")[0] if part in ("arms", "codecs") else WHOLE


def _of_fact(fact: ReplayedFact) -> Disagreement:
    return Disagreement(_arm(fact), fact.field, (Difference(fact.field, fact.original, str(fact.replayed)),))


def _of_row(row: ReplayedRow, found: list[Difference]) -> Disagreement:
    return Disagreement(row.arm, f"{row.arm}, row {row.place}", tuple(found))
