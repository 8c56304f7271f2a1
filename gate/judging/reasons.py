"""Why claims are withheld, in words: what each rule found that stands in their way.

A claim that a report asserts against a rule makes a violation, which has its message. One that it withholds itself,
as every run of K3 does, breaks nothing; its reader wants to know all the same.
"""

import re
from collections.abc import Iterable

from pydantic import Field

from gate.judging.apply_rules import RuleHit, spelled_out
from reports.records.record import Record
from reports.untrusted.one_line import one_line

SHOWN = 2
"""Findings of one rule that are spelled out; the rest is counted."""

LISTED = 20
"""Findings of one rule that a page lists."""

LENGTH = 300
"""Characters of one finding."""

_RATIO = re.compile(r"\dx\b")
"""A ratio: what is withheld is not printed on the way."""


class Reason(Record):
    """What one rule found, the first findings in one message and more of them apart, and the claims it withholds."""

    code: str
    message: str
    claims: tuple[str, ...]
    findings: tuple[str, ...] = Field((), exclude=True)


def reasons_of(hits: Iterable[RuleHit], withheld: Iterable[str]) -> tuple[Reason, ...]:
    """One reason a rule that blocks a claim of `withheld`, in the order of the rules."""
    names = tuple(withheld)
    by_code: dict[str, list[RuleHit]] = {}
    for hit in hits:
        if any(name in hit.blocked for name in names):
            by_code.setdefault(hit.rule.code, []).append(hit)
    return tuple(_reason(code, hits, names) for code, hits in by_code.items())


def _reason(code: str, hits: list[RuleHit], names: tuple[str, ...]) -> Reason:
    blocked = {name for hit in hits for name in hit.blocked}
    told = tuple(dict.fromkeys(map(_told, hits)))
    unlisted = (f"and {len(told) - LISTED} more",) if len(told) > LISTED else ()
    return Reason(
        code=code,
        message=spelled_out(told, SHOWN, LENGTH),
        claims=tuple(name for name in names if name in blocked),
        findings=(*(one_line(text, LENGTH) for text in told[:LISTED]), *unlisted),
    )


def _told(hit: RuleHit) -> str:
    """The finding; the rule's title where the finding names a ratio that nobody may quote."""
    arm = f"{hit.finding.arm}: " if hit.finding.arm is not None else ""
    return hit.finding.message if not _RATIO.search(hit.finding.message) else f"{arm}{hit.rule.title.lower()}"
