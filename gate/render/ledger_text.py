"""What `k3 gate ledger` prints: a line a figure that does not hold, and a count."""

import json
from collections.abc import Sequence

from gate.ledger.check import LedgerEntry
from reports.untrusted.one_line import one_line


def render_text(entries: Sequence[LedgerEntry]) -> str:
    """`path:line: PROBLEM message` for each that does not hold, then how many figures were checked."""
    broken = [entry for entry in entries if entry.problem is not None]
    lines = [f"{_place(entry)}: {entry.problem} {one_line(entry.message, 1000)}" for entry in broken]
    checked = sum(entry.line > 0 for entry in entries)
    lines.append(
        f"{checked} marked figure{'s' if checked != 1 else ''}, {len(broken)} problem{'s'[: len(broken) != 1]}"
    )
    return "\n".join(lines) + "\n"


def render_json(entries: Sequence[LedgerEntry]) -> str:
    """One JSON array, an object a marked figure or unreadable file; `problem` is null where all agrees."""
    rows = [
        {"path": e.path, "line": e.line, "figure": e.figure, "problem": e.problem, "message": e.message}
        for e in entries
    ]
    return json.dumps(rows, indent=1) + "\n"


def _place(entry: LedgerEntry) -> str:
    path = one_line(entry.path, 1000)
    return f"{path}:{entry.line}" if entry.line else path
