"""A chart as inline SVG: lines and points over a linear axis, the other linear or logarithmic. No script, no fetch."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from reports.untrusted.one_line import one_line

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 34, 44
COLOURS = ("#3b6fd4", "#c2571a", "#2a8a4a", "#a03a9a", "#8a7400", "#0b8a96", "#c23b52", "#6b6b6b", "#7a55c7", "#4b7a10")
"""One a series, in turn; readable on white and on black."""
MIN_POWER, MAX_POWER = -300, 300
"""Powers of ten that an axis reaches; a report may hold any number."""
SHAPES = ("circle", "square", "diamond", "cross")


@dataclass(frozen=True)
class Point:
    """A value with a name to be shown on it, and its interval, if it has one."""

    x: float
    y: float
    name: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """Points of one colour, joined from left to right if `joined`."""

    name: str
    points: tuple[Point, ...]
    joined: bool = True


@dataclass(frozen=True)
class Chart:
    """What is drawn; `log` is about the y axis, whose values must then be above 0."""

    title: str
    x_label: str
    series: tuple[Series, ...]
    log: bool


@dataclass(frozen=True)
class _Scale:
    """Values to pixels, and the ticks of both axes."""

    x_ticks: tuple[float, ...]
    y_ticks: tuple[float, ...]
    log: bool

    def x(self, value: float) -> float:
        low, high = self.x_ticks[0], self.x_ticks[-1]
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        value = min(max(value, self.y_ticks[0]), self.y_ticks[-1])
        low, high, at = (self._level(each) for each in (self.y_ticks[0], self.y_ticks[-1], value))
        return HEIGHT - BOTTOM - (at - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def _level(self, value: float) -> float:
        return math.log10(value) if self.log else value


def svg(chart: Chart) -> str:
    """The chart; empty if it has no points."""
    points = [point for series in chart.series for point in series.points]
    if not points:
        return ""
    scale = _Scale(_linear_ticks([point.x for point in points]), _y_ticks(points, chart.log), chart.log)
    body = [
        f'<text x="{LEFT}" y="18" class="title">{_text(chart.title)}</text>',
        *_axes(scale, chart.x_label),
        *(line for number, series in enumerate(chart.series) for line in _drawn(series, number, scale)),
        *(line for number, series in enumerate(chart.series) for line in _legend(series, number)),
    ]
    label = _text(f"{chart.title}, by {chart.x_label}")
    head = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return "\n".join([head, *body, "</svg>"])


def _axes(scale: _Scale, x_label: str) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in scale.y_ticks:
        y = scale.y(tick)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_number(tick, scale.log)}</text>'
    for tick in scale.x_ticks:
        x = scale.x(tick)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" class="grid"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{_number(tick, False)}</text>'
    yield f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{_text(x_label)}</text>'


def _drawn(series: Series, number: int, scale: _Scale) -> Iterator[str]:
    colour = COLOURS[number % len(COLOURS)]
    if series.joined and len(series.points) > 1:
        path = " ".join(f"{scale.x(point.x):.1f},{scale.y(point.y):.1f}" for point in series.points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    for point in series.points:
        x = scale.x(point.x)
        if point.interval is not None:
            low, high = (scale.y(bound) for bound in point.interval)
            yield f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}" opacity=".5"/>'
        told = _text(f"{point.name}: {point.x:.3g}, {point.y:.3g}")
        yield f"<g>{_mark(x, scale.y(point.y), number, colour)}<title>{told}</title></g>"


def _legend(series: Series, number: int) -> Iterator[str]:
    x, y = WIDTH - RIGHT + 18, TOP + 8 + 20 * number
    yield _mark(x, y, number, COLOURS[number % len(COLOURS)])
    yield f'<text x="{x + 12}" y="{y + 4}">{_text(series.name)}</text>'


def _mark(x: float, y: float, number: int, colour: str) -> str:
    """A small shape. Colours and shapes take turns of different length: no two of the first twenty look alike."""
    shape = SHAPES[number % len(SHAPES)]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    if shape == "diamond":
        return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" fill="{colour}"/>'
    return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2"/>'


def _linear_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Round steps of 1, 2 or 5 that reach over all values, at most ten of them."""
    low, high = min(values), max(values)
    raw = max(high - low, 1e-6 * abs(high), 1e-9) / 8
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(magnitude * factor for factor in (1, 2, 5, 10) if magnitude * factor >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    return tuple(step * number for number in range(first, max(last, first + 1) + 1))


def _y_ticks(points: Sequence[Point], log: bool) -> tuple[float, ...]:
    values = [value for point in points for value in (point.y, *(point.interval or ()))]
    if not log:
        return _linear_ticks([*values, 0.0, 1.0])
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first = min(max(first, MIN_POWER), MAX_POWER - 1)
    last = min(max(last, first + 1), MAX_POWER)
    every = -(-(last - first) // 12)
    return tuple(10.0**power for power in (*range(first, last, every), last))


def _number(value: float, log: bool) -> str:
    return f"1e{round(math.log10(value))}" if log else f"{value:.6g}"


def _text(text: str) -> str:
    return escape(one_line(text, 200), quote=True)
