"""Figures without a screen, drawn by matplotlib (extra `page`): SVG inside a page, or a file for a paper."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#3b6fd4", "#c2571a", "#2a8a4a", "#a03a9a", "#8a7400", "#0b8a96", "#c23b52", "#6b6b6b", "#7a55c7", "#4b7a10")
"""One a series, in turn; readable on white and on black."""

MARKERS = "osD^vP*X"
"""Colours and shapes take turns of different length: no two of the first forty look alike."""

MOST_SERIES = 12
"""Arms in one picture; of a report with more, the first ones are drawn."""

LARGEST = 1e12
"""What is larger, or nearer to zero than its inverse, is not drawn: a report may hold any number."""

INK = "#010203"
"""What in a page takes the colour of its text, so that it is read on white and on black."""

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Picture:
    """One picture: a word to ask for it by, what it is called, what it shows, and how it is drawn."""

    name: str
    title: str
    shows: str
    draw: Callable[[Axes], None]
    height: float = 3.4

    def svg(self, number: int) -> str:
        """The picture as an element of a page; `number` tells its ids from those of the page's other pictures."""
        with _style(INK):
            text = io.StringIO()
            _drawn(self).savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        return _inline(text.getvalue(), number, self.title)

    def file(self, kind: str) -> bytes:
        """The bytes of a file of the `kind` pdf, svg or png, black on white."""
        with _style("#000000"):
            data = io.BytesIO()
            when = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
            _drawn(self).savefig(data, format=kind, dpi=200, metadata=when)
        return data.getvalue()


def label(text: str, limit: int = 40) -> str:
    """Text of a report, fit to stand in a picture; matplotlib keeps what begins with `_` out of its legends."""
    shown = one_line(text, limit)
    return f" {shown}" if shown.startswith("_") else shown


def drawable(value: float | None) -> bool:
    """The value can be drawn on either kind of axis."""
    return value is not None and 1 / LARGEST < value < LARGEST


@contextmanager
def _style(ink: str) -> Iterator[None]:
    """Settings under which all pictures are drawn; `$` in a name is a dollar, and text stays text."""
    from matplotlib import rc_context

    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = dict.fromkeys(names, ink) | {
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "k3",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#88888855",
        "legend.frameon": False,
        "axes.axisbelow": True,
    }
    with rc_context(settings):
        yield


def _drawn(picture: Picture) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, picture.height), layout="constrained", facecolor="none")
    axes = figure.add_subplot(facecolor="none")
    picture.draw(axes)
    return figure


def _inline(text: str, number: int, title: str) -> str:
    """The SVG of a figure as a page needs it: ids of its own, ink of the page, a name for who cannot see."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(text)
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, f"p{number}-{value}")
            elif name == _LINK:
                del element.attrib[name]
                element.set("href", f"#p{number}-{value[1:]}")
            else:
                moved = re.sub(r"url\(#", f"url(#p{number}-", value)
                element.set(name, moved.replace(INK, "currentColor"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("class", "picture")
    root.set("role", "img")
    root.set("aria-label", title)
    return ElementTree.tostring(root, encoding="unicode")
