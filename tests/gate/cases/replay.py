"""Cases of the rules about replays, and about reports that were replayed."""

from collections.abc import Callable
from functools import cache

from gate.judging.judge import conclude
from gate.judging.replays.beside import Beside
from reports.reading.evidence import Evidence
from reports.records.conduct.replay import ReplayedRow, ReplayResult
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.cases.bases import code, judged
from tests.gate.honest.replay import measured_replay
from tests.gate.rule_case import RuleCase, measured, stated

Edit = Callable[[ReplayedRow], ReplayedRow]


@cache
def original() -> Report:
    """The report that the replays of all cases are of."""
    return judged(code())


@cache
def replayed() -> Report:
    """A replay of it, in which everything is as it was."""
    return measured_replay(original())


def contradicted(report: Report) -> Report:
    """The report as measured by somebody whose rows nobody could repeat."""
    assert report.provenance is not None
    return report.replace(provenance=report.provenance.replace(blas_threads=3))


@cache
def contradicting() -> Report:
    """A replay of that one, in which a stream came out otherwise."""
    return conclude(edit_first(measured_replay(contradicted(original())), other_stream))


def beside(evidence: Evidence) -> Beside:
    """What lies beside the file of a case."""
    report = evidence.outcome
    if isinstance(report, Report) and report.replay is not None:
        return Beside(original=original())
    replay = contradicting()
    assert replay.replay is not None
    return Beside(replays=(replay,) if evidence.digest == replay.replay.original else ())


def edit_replay(report: Report, edit: Callable[[ReplayResult], ReplayResult]) -> Report:
    """A replay's result edited."""
    assert report.replay is not None
    return report.replace(replay=edit(report.replay))


def edit_first(report: Report, edit: Edit) -> Report:
    """The first row of a replay edited."""
    return edit_replay(report, lambda replay: replay.replace(rows=(edit(replay.rows[0]), *replay.rows[1:])))


def other_stream(row: ReplayedRow) -> ReplayedRow:
    """The third token came out as another one."""
    assert isinstance(row.replayed, Measurement)
    assert row.replayed.token_ids is not None
    first, second, third, *rest = row.replayed.token_ids
    return row.replace(replayed=row.replayed.replace(token_ids=(first, second, third + 1, *rest)))


CASES: dict[str, RuleCase] = {
    "REPLAY_DRAW": measured(
        replayed,
        lambda report: edit_replay(report, lambda replay: replay.replace(rows=replay.rows[:-1])),
        "replay/rows",
    ),
    "REPLAY_NOT_RUN": measured(
        replayed, lambda report: edit_first(report, lambda row: row.replace(replayed=None)), "replay/rows"
    ),
    "REPLAY_DISAGREES": measured(
        replayed,
        lambda report: edit_first(report, other_stream),
        "replay/rows",
        claims=(f"rows_replayed/{original().report_id}",),
    ),
    "REPLAY_OF_ANOTHER": measured(
        replayed,
        lambda report: edit_replay(report, lambda replay: replay.replace(facts=replay.facts[:-1])),
        "replay/facts",
        claims=(f"rows_replayed/{original().report_id}",),
    ),
    "REPLAY_REFUTES": stated(original, contradicted, "provenance/blas_threads"),
}
