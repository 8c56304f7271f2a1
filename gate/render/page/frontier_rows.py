"""Recall against resident bytes as table cells. Measured figures only; what they prove is a claim."""

from gate.figures.recall_frontier import FrontierPoint
from gate.figures.statistics.intervals import wilson
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
