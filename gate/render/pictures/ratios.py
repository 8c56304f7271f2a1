"""Ratio of each prompt, and of all, beside the band in which the run cannot tell an effect from noise (forest plot)."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from gate.claims.against_baseline import pairs_of
from gate.judging.judged_file import JudgedFile
from gate.render.pictures.canvas import COLOURS, MOST_SERIES, Picture, drawable, label
from gate.rulebook.report_view import ReportView
from reports.records.claims import NullRatioClaim, SpeedupClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from reports.report import Report

MOST_PROMPTS = 60


def ratio_picture(report: Report, judged: JudgedFile) -> Iterator[Picture]:
    """The picture of admitted decode ratios; none where none is admitted."""
    view = ReportView(report)
    claims = [one.claim for one in judged.headlines if isinstance(one.claim, SpeedupClaim)]
    claims = [claim for claim in claims if claim.metric == "decode_speedup" and claim.baseline in view.arms]
    lines = [line for number, claim in enumerate(claims[:MOST_SERIES]) for line in _lines(view, claim, number)]
    if not lines:
        return
    band = _band(report, judged)

    def draw(axes: Axes) -> None:
        for place, (_name, value, low, high, colour, whole) in enumerate(reversed(lines)):
            axes.plot([low, high], [place, place], color=colour, linewidth=3 if whole else 1)
            axes.plot([value], [place], marker="D" if whole else "o", color=colour, markersize=7 if whole else 4)
        axes.set_yticks(range(len(lines)), [name for name, *_ in reversed(lines)])
        axes.axvline(1.0, color="#888888", linewidth=1)
        if band is not None:
            axes.axvspan(*band, color="#88888844")
        axes.set_xlabel("times the decode speed of the plain model")
        axes.set_ylim(-0.7, len(lines) - 0.3)

    shows = (
        "A diamond is the ratio of an arm with its 95 % interval; a dot is one prompt, and the line through it reaches "
        "from its slowest to its fastest repeat. The grey band is the A/A interval: the plain model beside itself."
    )
    yield Picture("ratios", "How many times as fast as the plain model", shows, draw, 1.2 + 0.22 * len(lines))


def _lines(view: ReportView, claim: SpeedupClaim, number: int) -> Iterator[tuple[str, float, float, float, str, bool]]:
    colour = COLOURS[number % len(COLOURS)]
    low, high = (claim.interval.low, claim.interval.high) if claim.interval is not None else (claim.value, claim.value)
    if not all(map(drawable, (claim.value, low, high))):
        return
    yield label(claim.arm), claim.value, low, high, colour, True
    ratios: dict[int, list[float]] = {}
    for pair in pairs_of(view, view.arms[claim.arm], view.arms[claim.baseline or ""], claim.metric):
        if drawable(pair.ratio):
            ratios.setdefault(pair.prompt, []).append(pair.ratio)
    for prompt, found in sorted(ratios.items())[:MOST_PROMPTS]:
        yield f"prompt {prompt}", median(found), min(found), max(found), colour, False


def _band(report: Report, judged: JudgedFile) -> tuple[float, float] | None:
    refused = {claim.name for claim in judged.withheld}
    for claim in report.claims:
        if isinstance(claim, NullRatioClaim) and claim.name not in refused and claim.interval is not None:
            band = claim.interval.low, claim.interval.high
            return band if all(map(drawable, band)) else None
    return None
