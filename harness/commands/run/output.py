"""Where a report goes: chosen and checked before anything is loaded, and what is there already."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import OutputError
from harness.base.provenance import read_host, read_packages, read_source
from harness.plans.companions import path_beside, settled
from harness.plans.plan import Plan
from harness.runs.journal import read_journal, refuse_taken

RUNS = Path("k3-runs")


def choose_output(plan: Plan, out: Path | None, beside: Sequence[Plan] = ()) -> Path:
    """`out`, or the unfinished run of the same plan, code and machine in k3-runs/, or the next free name there.

    Raises:
        OutputError: the folder cannot be made or written, or `out` or what belongs beside it has no place there.
    """
    if out is not None:
        for part, path in ((plan, out), *((part, path_beside(out, part)) for part in beside)):
            if not stands(part, path):
                check_output(path)
        return out
    try:
        RUNS.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{RUNS}: cannot be made ({error.strerror}); use --out FILE") from error
    stem = f"{plan.preset.name}-{plan.digest()[7:15]}"
    number = 1
    while not _has_room(path := RUNS / f"{stem}-{number}.json", beside):
        number += 1
    return path


def check_output(out: Path) -> None:
    """Refuse a report file that could not be written afterwards.

    Raises:
        OutputError: a folder, in no folder, in one that cannot be written, or there is something already: a report, or
            a journal that cannot be gone on with.
    """
    if out.is_dir():
        raise OutputError(f"{out}: is a folder; name a file in it with --out")
    if not out.parent.is_dir():
        raise OutputError(f"{out}: its folder does not exist; make it, or choose another --out")
    refuse_taken(out)
    try:
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise OutputError(f"{out}: its folder cannot be written ({error.strerror}); choose another --out") from error
    read_journal(out)


def stands(part: Plan, path: Path) -> bool:
    """The report of `part` is at `path`, and was not edited since it was settled: there is nothing to do."""
    from gate.judging.batch import Judge

    return settled(part, path) and Judge().read(path).judged.verdict != "invalid"


def _has_room(out: Path, beside: Sequence[Plan]) -> bool:
    """Nothing is at `out`, or a run to go on with; nor beside it, or what is settled."""
    paths = [(part, path_beside(out, part)) for part in beside]
    return _goes_on(out) and all(_goes_on(path) or stands(part, path) for part, path in paths)


def _goes_on(path: Path) -> bool:
    """The report at `path` is not begun, or its run is one that this code on this machine can go on with."""
    if path.exists():
        return False
    try:
        found = read_journal(path)
    except OutputError:
        return False
    if found is None:
        return True
    made = found.report.provenance
    here = (read_source(), read_host(), read_packages())
    return made is not None and (made.source, made.host, made.packages) == here
