"""Names and labels that are printed beside figures: plain, and promising nothing that the arm is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.constants import NATIVE_BASELINE_LABEL

if TYPE_CHECKING:
    from reports.records.measurement import Arm

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What presets may call an arm: nothing that looks like another letter, moves the cursor or ends a line."""

_FIGURE = re.compile(r"\d\s*(?:x\b|×|%|times\b|fold\b|percent\b|tok\w*\s*/\s*s)", re.IGNORECASE)

_SEPARATORS = re.compile(r"[\s_-]+")

LABEL_LENGTH = Threshold(
    "LABEL_LENGTH", 100, "characters", meaning="Of a label; what is longer is no label.", source="presets allow as many"
)


@evidence_rule(
    "NAME_UNFIT",
    title="A name or label that is not plain",
    catches="An arm whose name is not of lower-case letters, digits, `_` and `-`; or whose label is not plain text, "
    "states a figure (`5x faster`), or is `native_ar_baseline` in another spelling.",
    why="Names stand in every headline: a Cyrillic `o` makes a second oracle, a line break a headline of its own.",
    fix="Name arms as presets do; say in the label what ran, and leave the figures to the gate.",
    example=Example(bad="labelled `k3 fused, 5x faster`", good="labelled `k3 fused, prompt lookup, blocks of 8`"),
    thresholds=(LABEL_LENGTH,),
)
def name_unfit(view: ReportView) -> Iterator[Finding]:
    """The name or the label of an arm says something by its spelling."""
    for arm in view.report.arms if not view.imported else ():
        if not _PLAIN.fullmatch(arm.name):
            shown = ascii(arm.name[:60])
            message = f"an arm is named {shown}; names are of lower-case letters, digits, _ and -"
            yield Finding(message, arm.name, None, "name", shown, "a plain name")
        fault = _label_fault(arm)
        if fault is not None:
            shown = ascii((arm.system_under_test or "")[:60])
            message = f"{ascii(arm.name[:60])[1:-1]}: its label {shown} {fault}"
            yield Finding(message, arm.name, None, "system_under_test", shown, "what ran, in plain words")


def _label_fault(arm: Arm) -> str | None:
    label = arm.system_under_test
    if label is not None and arm.role in ("oracle", "null"):
        return f"is on an arm of role {arm.role}, which is presented as nothing else"
    if label is None or label == NATIVE_BASELINE_LABEL:
        return None
    if not (label.isascii() and label.isprintable()) or len(label) > LABEL_LENGTH.value:
        return "is not plain text"
    if _SEPARATORS.sub("_", label.strip()).lower() == NATIVE_BASELINE_LABEL:
        return f"is not {NATIVE_BASELINE_LABEL}, and reads like it"
    return "states a figure" if _FIGURE.search(label) else None
