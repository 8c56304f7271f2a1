"""What the chain says of the runs before one: which ended in reports, which gave none."""

import os
from pathlib import Path
from typing import Literal
from urllib.parse import unquote_to_bytes

from harness.runs.run_ledger.chain import Chain
from harness.runs.run_ledger.entries import Mended, RunEnded, RunStarted
from reports.records.provenance import EarlierRun
from reports.records.record import Digest

FILE_ADDRESS = "file://"
"""What `Path.as_uri` puts before an absolute path, whose bytes it quotes."""


def run_to_go_on_with(chain: Chain, start: RunStarted) -> Digest | None:
    """The run that `start` would begin again, whose journal is still there: the last one of its plan and place."""
    same = [digest for digest, one in _started(chain).items() if (one.plan, one.place) == (start.plan, start.place)]
    return same[-1] if same else None


def earlier_runs(chain: Chain, end: RunEnded) -> tuple[EarlierRun, ...]:
    """The other runs of the plan that `end` ends, or of one that is alike, that ended in reports."""
    return tuple(
        EarlierRun(report=one.report, plan=_likeness(one, end), ended_at=one.at, agreed=one.agreed)
        for run, one in _ended(chain).items()
        if run != end.run and one.report is not None and one.family == end.family
    )


def places(chain: Chain) -> dict[Digest, Path]:
    """Where the report of each digest was written, of those that tell it; of several places of one the last."""
    return {
        one.report: Path(os.fsdecode(unquote_to_bytes(one.written.removeprefix(FILE_ADDRESS))))
        for one in _ended(chain).values()
        if one.report is not None and one.written is not None
    }


def _likeness(one: RunEnded, end: RunEnded) -> Literal["same", "alike", "other_code"]:
    if one.code != end.code:
        return "other_code"
    return "same" if one.plan == end.plan else "alike"


def unfinished_runs(chain: Chain, run: Digest, family: Digest) -> int:
    """How many other runs of these settings were begun and have no report: killed, given up, or still running."""
    ended = _ended(chain)
    others = [digest for digest, one in _started(chain).items() if one.family == family and digest != run]
    return sum(digest not in ended or ended[digest].report is None for digest in others)


def mends(chain: Chain) -> tuple[int, int]:
    """Lines cut short by a crash, and places where whole lines do not follow on each other."""
    kinds = [one.entry.kind for one in chain.entries if isinstance(one.entry, Mended)]
    return kinds.count("torn"), kinds.count("broken")


def _started(chain: Chain) -> dict[Digest, RunStarted]:
    return {one.digest: one.entry for one in chain.entries if isinstance(one.entry, RunStarted)}


def _ended(chain: Chain) -> dict[Digest, RunEnded]:
    """The last end of each run."""
    return {one.entry.run: one.entry for one in chain.entries if isinstance(one.entry, RunEnded)}
