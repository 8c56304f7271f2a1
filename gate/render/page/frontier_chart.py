"""Recall against resident bytes as table cells and as a picture. Measured figures only; what they prove is a claim."""

from collections.abc import Sequence

from gate.figures.recall_frontier import FrontierPoint
from gate.figures.statistics.intervals import wilson
from gate.render.page.chart import Chart, Point, Series
from reports.untrusted.one_line import one_line

COLUMNS = ("arm", "what stays", "exact layers", "K/V bytes, % of the oracle's", "recall", "95 % interval")
WORDS = 2


def row(point: FrontierPoint) -> tuple[str, ...]:
    """The cells under `COLUMNS`."""
    interval = wilson(point.recalled)
    return (
        one_line(point.arm),
        point.family,
        str(point.exact_layers),
        f"{100 * point.share:.1f}",
        f"{point.recalled.correct}/{point.recalled.total}",
        f"{interval.low:.2f} to {interval.high:.2f}",
    )


def chart(points: Sequence[FrontierPoint]) -> Chart:
    """Recall with its 95 % interval over the share of bytes; a line a family."""
    series: dict[str, list[Point]] = {}
    for point in points:
        interval = wilson(point.recalled)
        made = Point(100 * point.share, interval.value, point.arm, (interval.low, interval.high))
        series.setdefault(point.family, []).append(made)
    lines = tuple(Series(name, tuple(found)) for name, found in series.items())
    return Chart("Recall, with 95 % intervals", "resident K/V bytes, % of the oracle's", lines, False)
