"""The prompts that speeds and acceptance are figures of: those that the plain model answers without a loop.

Every draft of a loop is right, so a prompt that the plain model itself answers in a loop says nothing of a drafter. It
is left out of every arm alike, by the oracle's rows alone, so nobody can pick; the rows stay in the report, and the
claim tells how many prompts were left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.report_view import ReportView

if TYPE_CHECKING:
    from reports.records.measurement import Arm


ROUNDS = 3
"""So many times the same tokens in a row at the end of a stream are a loop. Code repeats a line with another name in
it, not three times the same."""

SHORTEST = 32
"""Tokens of the shortest loop."""


def left_out(view: ReportView) -> frozenset[int]:
    """The samples of a report of kind `code` that the oracle answers in a loop."""
    if view.oracle is None or view.report.kind != "code":
        return frozenset()
    key = ("left out",)
    if key not in view.memo:
        view.memo[key] = frozenset(_looping(view.oracle))
    found: frozenset[int] = view.memo[key]
    return found


def without_loops(view: ReportView, arm: Arm) -> Arm:
    """The arm without the rows of prompts that are left out."""
    samples = left_out(view)
    if not samples:
        return arm
    key = ("counted", arm.name)
    if key not in view.memo:
        rows = tuple(row for row in arm.measurements if row.sample not in samples)
        view.memo[key] = arm.model_copy(update={"measurements": rows})
    found: Arm = view.memo[key]
    return found


def loop_at_end(tokens: Sequence[int], *, rounds: int = ROUNDS, least: int = SHORTEST) -> int | None:
    """The shortest period in which the last tokens go round at least `rounds` times, over `least` tokens or more.

    None if they do not.
    """
    size = len(tokens)
    for period in range(1, size // rounds + 1):
        run, long_enough = period, max(rounds * period, least)
        while run < size and tokens[-run - 1] == tokens[period - run - 1]:
            run += 1
        if run >= long_enough:
            return period
    return None


def _looping(oracle: Arm) -> Iterator[int]:
    """The samples of which every row loops: the plain model says the same each time, unless something is wrong."""
    streams: dict[int, set[tuple[int, ...]]] = {}
    for row in oracle.measurements:
        streams.setdefault(row.sample, set()).add(row.token_ids or ())
    for sample, said in streams.items():
        if all(loop_at_end(tokens) is not None for tokens in said):
            yield sample
