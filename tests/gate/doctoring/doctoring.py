"""What a doctoring is: a named edit of an honest report, by somebody who wants to look good."""

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reports.report import Report

Edit = Callable[[Report, random.Random], Report | None]
"""A report edited; none where it holds nothing that this doctoring is about."""

Truth = Callable[[Report], Report | None]
"""What was really measured, made from the rows of a sound run: the flaw that the doctoring hides."""

DocumentEdit = Callable[[dict[str, Any], random.Random], bytes]
"""The bytes of a file, from the JSON document of a report: what no record can hold."""

FAMILIES = (
    "arms", "audits", "blocks", "boasts", "claims", "codec_answers", "codecs", "controls", "copies", "documents",
    "drafts", "forgeries", "groups", "kv_bytes", "labels", "liveness", "origin", "parity", "prompts", "rows", "runs",
    "scores", "streams", "times", "verdicts",
)  # fmt: skip


@dataclass(frozen=True)
class Doctoring:
    """One kind of doctoring. Exactly one of `edit` and `document` is set; `truth` only where a flaw is hidden."""

    name: str
    what: str
    family: str
    edit: Edit | None = None
    document: DocumentEdit | None = None
    truth: Truth | None = None


_doctorings: dict[str, Doctoring] = {}


def doctoring(truth: Truth | None = None) -> Callable[[Edit], Edit]:
    """Declare a doctoring under the name of its function; its docstring says what it does."""

    def declare(edit: Edit) -> Edit:
        _declare(Doctoring(edit.__name__, _what(edit), _family(edit), edit=edit, truth=truth))
        return edit

    return declare


def document_doctoring(edit: DocumentEdit) -> DocumentEdit:
    """Declare a doctoring of the file's text under the name of its function."""
    _declare(Doctoring(edit.__name__, _what(edit), _family(edit), document=edit))
    return edit


def _declare(one: Doctoring) -> None:
    assert one.name not in _doctorings, one.name
    _doctorings[one.name] = one


def _what(function: Callable[..., Any]) -> str:
    return " ".join((function.__doc__ or "").split())


def _family(function: Callable[..., Any]) -> str:
    return function.__module__.rsplit(".", 1)[-1]


@cache
def all_doctorings() -> tuple[Doctoring, ...]:
    """Every doctoring, by name; the modules of all families are imported for it."""
    folder = Path(__file__).parent
    for family in FAMILIES:
        assert (folder / f"{family}.py").is_file(), family
        importlib.import_module(f"tests.gate.doctoring.{family}")
    return tuple(_doctorings[name] for name in sorted(_doctorings))
