"""Speed over the run: drift, order and pauses in one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.figures.rates import decode_rate
from gate.render.pictures.canvas import COLOURS, MARKERS, MOST_SERIES, Picture, drawable, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from reports.records.measurement import Arm
    from reports.report import Report

MOST_ROWS = 400


def speed_picture(report: Report) -> Iterator[Picture]:
    """Decode rate of each row by its place in the run; none where rows have no place or no rate."""
    series = [(arm.name, points) for arm in report.arms[:MOST_SERIES] if len(points := _points(arm)) > 1]
    if not series:
        return
    paused = [row.row.order for arm in report.arms for row in arm.paused or () if row.row.order is not None]
    resumed = [one.order for one in report.plan.resumes] if report.plan is not None else []

    def draw(axes: Axes) -> None:
        for number, (name, points) in enumerate(series):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            orders, rates = zip(*points, strict=True)
            axes.plot(orders, rates, marker, color=colour, markersize=4, label=label(name), alpha=0.8)
        for order in paused[:20]:
            axes.axvline(order, color="#c23b52", linestyle=":", linewidth=1)
        for order in resumed[:20]:
            axes.axvline(order, color="#888888", linestyle="--", linewidth=1)
        axes.set_xlabel("place in the run")
        axes.set_ylabel("tokens a second")
        axes.set_ylim(bottom=0)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    shows = (
        "Each mark is one timed run. A dotted line is a pause of the machine, a dashed one where the run was resumed."
    )
    yield Picture("speed", "Decode speed over the run", shows, draw)


def _points(arm: Arm) -> list[tuple[int, float]]:
    found = [(row.order, rate) for row in arm.measurements[:MOST_ROWS] if (rate := decode_rate(row)) is not None]
    return [(order, rate) for order, rate in found if order is not None and order < 10**9 and drawable(rate)]
