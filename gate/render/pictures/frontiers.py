"""What is kept against what it costs: recall over bytes, and error, divergence and recall of codecs over bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gate.figures.recall_frontier import frontier
from gate.figures.statistics.intervals import Share, wilson
from gate.render.pictures.canvas import COLOURS, MARKERS, Picture, drawable, label
from gate.render.tables.codec_table import CodecSummary, summarise_codecs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes

    from reports.report import Report

MOST_POINTS = 60


class Point(NamedTuple):
    """A value over its cost, with the bounds of its interval, if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


Series = dict[str, list[Point]]


def frontier_picture(report: Report) -> Iterator[Picture]:
    """Recall over resident K/V bytes, a line a family; none where no arm restores by f_theta."""
    series: Series = {}
    for point in frontier(report)[:MOST_POINTS]:
        if drawable(point.share):
            series.setdefault(point.family, []).append(_recall(100 * point.share, point.recalled))
    if series:
        draw = _lines(series, "resident K/V bytes, % of the oracle's", "recall", log=False)
        shows = "Each mark is an arm that bounds its cache; bars are 95 % intervals. Left and up is better."
        yield Picture("recall", "Recall against bytes", shows, draw)


def codec_pictures(report: Report) -> Iterator[Picture]:
    """Error, divergence of logits and recall over bits a value; a line a family.

    Arms that keep many layers exact, at more bits than any codec has, would stretch the axis and are left to the table.
    """
    if report.kv_quant is None:
        return
    summaries = summarise_codecs(report.kv_quant)
    most = max((one.bits for one in summaries if one.family is not None and one.bits is not None), default=0.0)
    rated = [one for one in summaries if drawable(one.bits) and (one.bits or 0.0) <= most][:MOST_POINTS]
    shows = "A line is a family of codecs; left and down is better."
    for name, title, figure in (
        ("error", "Relative error of K and V", lambda one: one.error),
        ("divergence", "KL divergence of held-out logits, nats", lambda one: one.kl_divergence),
    ):
        if series := _families(rated, _plain(figure)):
            yield Picture(name, title, shows, _lines(series, "bits a value", "", log=True), 4.2)
    if series := _families(rated, _recalled):
        shows = "Bars are 95 % intervals; left and up is better."
        draw = _lines(series, "bits a value", "recall", log=False)
        yield Picture("codec-recall", "Recall of each codec", shows, draw, 4.2)


def _families(summaries: list[CodecSummary], point: Callable[[CodecSummary], Point | None]) -> Series:
    """Families in the order of the report; whatever has none shares a series of single points."""
    series: Series = {}
    for summary in summaries:
        if (made := point(summary)) is not None:
            series.setdefault(summary.family or "other", []).append(made)
    return series


def _plain(figure: Callable[[CodecSummary], float | None]) -> Callable[[CodecSummary], Point | None]:
    def point(one: CodecSummary) -> Point | None:
        y = figure(one)
        return Point(one.bits, y) if one.bits is not None and y is not None and drawable(y) else None

    return point


def _recalled(one: CodecSummary) -> Point | None:
    return _recall(one.bits, one.recalled) if one.bits is not None and one.recalled is not None else None


def _recall(x: float, share: Share) -> Point:
    interval = wilson(share)
    return Point(x, interval.value, interval.low, interval.high)


def _lines(series: Series, x_label: str, y_label: str, *, log: bool) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for number, (name, points) in enumerate(series.items()):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            found = sorted(points)
            line = "" if name == "other" else "-"
            xs, ys = [one.x for one in found], [one.y for one in found]
            axes.plot(xs, ys, line, marker=marker, color=colour, markersize=5, label=label(name))
            for one in found:
                if one.low is not None and one.high is not None:
                    axes.plot([one.x, one.x], [one.low, one.high], color=colour, linewidth=1, alpha=0.5)
        if log:
            axes.set_yscale("log")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)

    return draw
