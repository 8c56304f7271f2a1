"""A case of a rule: a report that breaks it alone, and the smallest repair of that report."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gate.judging.judge import conclude
from reports.report import Report
from tests.gate.differences import differences, merged
from tests.gate.edits import asserted, document

Document = dict[str, Any]
Edit = Callable[[Report], Report]


@dataclass(frozen=True)
class RuleCase:
    """`sound` and `broken` differ in `places` only, before `finish` makes them the documents of two files."""

    sound: Callable[[], Document]
    broken: Callable[[], Document]
    finish: Callable[[Document], Document]
    places: tuple[str, ...]

    @cached_property
    def good(self) -> Document:
        """The file that breaks no rule."""
        return self.finish(self.sound())

    @cached_property
    def bad(self) -> Document:
        """The file that breaks the rule."""
        return self.finish(self.broken())

    @cached_property
    def differing(self) -> tuple[str, ...]:
        """Every place in which the two differ before they are finished."""
        return differences(self.sound(), self.broken())

    def with_bad(self, takes: Callable[[str], bool]) -> Document:
        """The good file with what is bad in these of the places."""
        return self.finish(merged(self.sound(), self.broken(), takes))


def measured(build: Callable[[], Report], edit: Edit, *places: str, claims: tuple[str, ...] = ()) -> RuleCase:
    """Rows edited before they are judged; what follows from them is derived, and the claims are made all the same."""

    def finish(rows: Document) -> Document:
        return document(asserted(conclude(validated(rows)), *claims))

    return RuleCase(lambda: document(build()), lambda: document(edit(build())), finish, places)


def stated(build: Callable[[], Report], edit: Edit, *places: str) -> RuleCase:
    """A judged report edited: what it says of itself is bad."""
    return RuleCase(lambda: document(build()), lambda: document(edit(build())), lambda made: made, places)


def written(build: Callable[[], Report], edit: Callable[[Document], None], *places: str) -> RuleCase:
    """Edited as JSON: what no record could hold."""

    def broken() -> Document:
        made = document(build())
        edit(made)
        return made

    return RuleCase(lambda: document(build()), broken, lambda made: made, places)


def validated(made: Document) -> Report:
    """The document, validated."""
    return Report.model_validate_json(json.dumps(made))
