"""A codec run as pictures: error, divergence of logits and recall over bits a value."""

from collections.abc import Callable, Iterator, Sequence

from gate.figures.statistics.intervals import wilson
from gate.render.page.chart import Chart, Point, Series
from gate.render.tables.codec_table import CodecSummary


def codec_charts(summaries: Sequence[CodecSummary]) -> Iterator[Chart]:
    """Error, divergence of logits and recall over bits a value; a line a family.

    Arms that keep many layers exact, at more bits than any codec has, would stretch the axis and are left to the table.
    """
    most = max((one.bits for one in summaries if one.family is not None and one.bits is not None), default=0.0)
    rated = [one for one in summaries if one.bits is not None and one.error and one.bits <= most]
    if not rated:
        return
    yield Chart("Relative error of K and V", "bits a value", _series(rated, _error), True)
    yield Chart("KL divergence of held-out logits, nats", "bits a value", _series(rated, _divergence), True)
    yield Chart("Recall, with 95 % intervals", "bits a value", _series(rated, _recall), False)


def _series(summaries: Sequence[CodecSummary], point: Callable[[CodecSummary], Point | None]) -> tuple[Series, ...]:
    """Families in the order of the report; whatever has none shares a series of single points."""
    points: dict[str, list[Point]] = {}
    for summary in summaries:
        made = point(summary)
        if made is not None:
            points.setdefault(summary.family or "other", []).append(made)
    return tuple(
        Series(name, tuple(sorted(found, key=lambda one: one.x)), name != "other") for name, found in points.items()
    )


def _error(summary: CodecSummary) -> Point | None:
    return _point(summary, summary.error)


def _divergence(summary: CodecSummary) -> Point | None:
    return _point(summary, summary.kl_divergence)


def _point(summary: CodecSummary, y: float | None) -> Point | None:
    if summary.bits is None or y is None or y <= 0:
        return None
    return Point(summary.bits, y, summary.name)


def _recall(summary: CodecSummary) -> Point | None:
    if summary.bits is None or summary.recalled is None:
        return None
    interval = wilson(summary.recalled)
    return Point(summary.bits, interval.value, summary.name, (interval.low, interval.high))
