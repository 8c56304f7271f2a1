"""Blocks of speculative decoding: where their time goes, beside plain steps for as many tokens; what is accepted."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from gate.claims.counted_prompts import without_loops
from gate.figures.acceptance import acceptance_of
from gate.figures.rates import mean_of
from gate.render.pictures.canvas import COLOURS, MARKERS, MOST_SERIES, Picture, drawable, label
from gate.rulebook.report_view import ReportView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from reports.records.measurement import Arm, BlockRecord
    from reports.report import Report

STAGES = ("draft_s", "verify_s", "rollback_s", "extend_s")


def stages_picture(report: Report) -> Iterator[Picture]:
    """Mean seconds of a block by stage, and of plain steps for as many tokens; none where an arm or the oracle has no
    such times."""
    oracle = next((arm for arm in report.arms if arm.role == "oracle"), None)
    step = _step(oracle) if oracle is not None else None
    arms = [(arm.name, found) for arm in report.arms[:MOST_SERIES] if (found := _stages(arm)) is not None]
    if not arms or step is None:
        return

    def draw(axes: Axes) -> None:
        names: list[str] = []
        told: set[str] = set()
        for name, (stages, committed) in arms:
            left = 0.0
            for number, (stage, seconds) in enumerate(stages.items()):
                shown = stage.removesuffix("_s") if stage not in told else None
                axes.barh(len(names), 1000 * seconds, left=left, color=COLOURS[number], label=shown)
                left += 1000 * seconds
                told.add(stage)
            plain = "plain model, as many tokens" if not names else None
            axes.barh(len(names) + 1, 1000 * step * committed, color="#88888866", label=plain)
            names += [f"{label(name, 24)}, a block of {committed:.2f}", "plain steps for as many"]
        axes.axvline(1000 * step, color="#888888", linestyle="--", linewidth=1, label="one plain step")
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel("milliseconds")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    shows = (
        "A bar is the mean block of an arm, by stage; the grey bar under it is what the plain model takes for as many "
        "tokens. An arm is faster by as much as its bar is shorter, and no faster than its tokens a block allow."
    )
    yield Picture("stages", "Where the time of a block goes", shows, draw, 1.4 + 0.5 * len(arms))


def acceptance_picture(report: Report) -> Iterator[Picture]:
    """The share of drafts accepted at each position of a block, a line an arm; none where nothing was drafted."""
    view = ReportView(report)
    shown = ((arm.name, acceptance_of(without_loops(view, arm))) for arm in report.arms[:MOST_SERIES])
    arms = [(name, found) for name, found in shown if found is not None]
    if not arms:
        return

    def draw(axes: Axes) -> None:
        for number, (name, found) in enumerate(arms):
            places = range(1, min(len(found.by_position), 128) + 1)
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            axes.plot(places, found.by_position[:128], marker=marker, color=colour, markersize=4, label=label(name))
        axes.set_xlabel("position in the block")
        axes.set_ylabel("share of drafts accepted")
        axes.set_ylim(-0.02, 1.02)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    shows = "Of the blocks that drafted so far, the share that accepted the token at this position and all before it."
    yield Picture("acceptance", "Acceptance by position", shows, draw)


def _step(oracle: Arm) -> float | None:
    """Mean seconds of a decode step."""
    rows = [(row.decode_s, row.decode_tokens) for row in oracle.measurements]
    steps = mean_of(seconds / tokens if seconds and tokens else None for seconds, tokens in rows)
    return steps if drawable(steps) else None


def _stages(arm: Arm) -> tuple[dict[str, float], float] | None:
    """Mean seconds of each stage and of the rest of a block, of the wire where a server ran it, and the mean of tokens
    committed."""
    rounds = [block for row in arm.measurements if row.speculation for block in row.speculation.rounds or ()]
    if not rounds:
        return None
    stages = {name: fmean(getattr(block, name) for block in rounds) for name in STAGES}
    stages["other"] = max(0.0, fmean(map(_rest, rounds)))
    trips = [row.round_trip.decode_s for row in arm.measurements if row.round_trip is not None]
    if trips:
        stages["round trip"] = sum(trips) / len(rounds)
    committed = fmean(block.committed for block in rounds)
    sound = all(0 <= seconds < 1e6 for seconds in stages.values()) and drawable(committed)
    return (stages, committed) if sound else None


def _rest(block: BlockRecord) -> float:
    return block.seconds - (block.draft_s + block.verify_s + block.rollback_s + block.extend_s)
