"""The rows of a replay are those that its seed draws, once each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import REPLAY, Example, Finding

if TYPE_CHECKING:
    from reports.records.conduct.replay import AnyRow


@evidence_rule(
    "REPLAY_DRAW",
    title="A replay of other rows than were drawn",
    catches="Rows that are not those which the seed draws from the report of this digest, each once and in order: one "
    "left out, one added, another in its place.",
    why="Who chooses the rows can choose the true ones; a row that did not fit is the first to go missing.",
    fix="Let `k3 replay` draw and write the rows; one that could not run stays, with the reason.",
    blocks=REPLAY,
    example=Example(bad="12 rows were drawn, and 11 stand there", good="the 12 rows that the seed draws"),
    since=4,
)
def replay_draw(view: ReportView) -> Iterator[Finding]:
    """The rows are not the draw."""
    from reports.replays.draw import draw

    replay = view.report.replay
    if replay is None:
        return
    drawn = draw(replay.original, replay.seed, replay.asked, replay.population)
    wanted = [f"{one.arm}, row {one.place}" for one in drawn]
    found = [f"{row.arm}, row {row.place}" for row in replay.rows]
    if found != wanted:
        place = next((n for n, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), -1)
        theirs, ours = (names[place] if 0 <= place < len(names) else f"{len(names)} rows" for names in (found, wanted))
        message = f"replay.rows: {theirs}; seed {replay.seed} draws {ours}"
        yield Finding(message, field="replay.rows", found=theirs, allowed=ours)


@evidence_rule(
    "REPLAY_NOT_RUN",
    title="A row of a replay neither run nor excused",
    catches="A drawn row without what came out and without a reason, or with both; one that is of another kind than "
    "the report's; or one whose clock read the same to the last digit, which a second run does not.",
    why="A row that disagrees is easily called one that could not run; then it must say so, and it counts as false.",
    fix="Let `k3 replay` write the rows.",
    blocks=REPLAY,
    example=Example(bad="a row without an outcome", good="a row with one, or with the reason why it has none"),
    since=4,
)
def replay_not_run(view: ReportView) -> Iterator[Finding]:
    """A row with neither of the two, or with both, or of something else."""
    replay = view.report.replay
    for row in replay.rows if replay is not None else ():
        where = f"replay.rows: {row.arm}, row {row.place}"
        if (row.replayed is None) == (row.not_run is None):
            found = "neither outcome nor reason" if row.replayed is None else "outcome and reason"
            yield Finding(f"{where}: {found}", field="replay.rows.replayed", found=found, allowed="one of the two")
        elif row.replayed is not None and type(row.replayed) is not type(row.original):
            found, allowed = type(row.replayed).__name__, type(row.original).__name__
            message = f"{where}: {found} stands for {allowed}"
            yield Finding(message, field="replay.rows.replayed", found=found, allowed=allowed)
        elif row.replayed is not None and _times(row.replayed) and _times(row.replayed) == _times(row.original):
            message = f"{where}: its times are the report's own to the last digit, so that it was copied and not run"
            yield Finding(message, field="replay.rows.replayed", found="the same times", allowed="times of its own")


def _times(row: AnyRow) -> tuple[float, ...]:
    """What the clock read; nothing of a row that is not timed."""
    read = (getattr(row, name, None) for name in ("prefill_s", "decode_s", "e2e_s"))
    return tuple(seconds for seconds in read if seconds)
