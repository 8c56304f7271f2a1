"""Templates of the pages. Jinja2 escapes every value; only pictures of our own are put in as they are."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

TEXT_LIMIT = 2000
"""Characters of one value; what is longer is cut."""


def rendered(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = _style()
    return environment


def _one_line(value: object) -> object:
    """Text without control codes, whoever wrote it; markup is what we made ourselves."""
    return one_line(value, TEXT_LIMIT) if type(value) is str else value


def _style() -> object:
    from markupsafe import Markup

    return Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
