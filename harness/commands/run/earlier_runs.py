"""The earlier runs of a plan, where this machine's run ledger finds their reports again: judged together, and told."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.clock import utc_now
from harness.commands.run.output import RUNS
from harness.runs.run_ledger.history import places
from harness.runs.run_ledger.ledger_file import read_ledger, state_folder
from reports.records.provenance import EarlierRun
from reports.records.record import Digest
from reports.retractions import FILE_NAME
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.batch import Judge
    from gate.judging.judged_file import JudgedFile


class EarlierRuns:
    """What came before the runs of one command: reports that are still where they were written, and lost ones.

    The verdict is that of `k3 gate check` over the command's own reports and those of `found`.
    """

    def __init__(self) -> None:
        self.found: list[Path] = []
        self.lost: dict[EarlierRun, Path | None] = {}
        """With where the ledger says that each was written."""

    def judge(self) -> "Judge":
        """A judge that sees what was found."""
        from gate.judging.batch import Judge

        judge = Judge()
        judge.together(self.found)
        return judge

    def judged(self, path: Path) -> "JudgedFile":
        """The report at `path` in the light of the reports of the earlier runs of its plan."""
        alone = self.judge().read(path).judged
        written = _places() if alone.unseen else {}
        there = {run: written[run.report] for run in alone.unseen if run.report in written}
        judge = self.judge()
        judge.together([*self.found, *there.values()])
        file = judge.read(path).judged
        self.found += [place for run, place in there.items() if run not in file.unseen]
        self.lost |= {run: there.get(run) for run in file.unseen}
        return file

    def lines(self, own: Sequence[Path]) -> Iterator[str]:
        """What the reader of the command's reports, at `own`, has to know; nothing where no earlier run counts."""
        together = _check((*self.found, *own))
        if self.found:
            more = f" and {len(self.found) - 1} more" if self.found[1:] else ""
            yield f"Not the first run on this machine: judged together with {_shown(self.found[0])}{more}."
            yield f"Show them together, alone the gate withholds these claims: `{together}`"
        for run, place in self.lost.items():
            where = f"is no longer at {_shown(place)}" if place is not None else "is nowhere the run ledger tells of"
            yield f"The report of the run of {run.ended_at:%Y-%m-%d %H:%M} UTC {where}."
        if self.lost:
            file = own[-1].parent / FILE_NAME
            again = together.replace(" check ", f" check --retractions {_shown(file)} ", 1) if self.found else together
            yield f"If it was moved, judge both: `{together} WHERE_IT_IS_NOW`"
            yield f"If it is deleted, add this to {_shown(file)} with the reason, then `{again}`:"

    def retractions(self) -> Iterator[str]:
        """The entries of a retractions file that name the lost reports."""
        for run in self.lost:
            yield from ("[[retraction]]", f'digest = "{run.report}"', 'reason = "deleted, because ..."')
            yield f"date = {utc_now():%Y-%m-%d}"


def _places() -> dict[Digest, Path]:
    """Where this machine's reports were written; nothing is known where the ledger cannot be read."""
    try:
        return places(read_ledger(state_folder()))
    except OSError:
        return {}


def _check(paths: Iterable[Path]) -> str:
    """The command that judges them together; of K3's own folders of reports the folder is named."""
    named = dict.fromkeys(path.parent if path.parent.name == RUNS.name else path for path in paths)
    return f"k3 gate check {' '.join(map(_shown, named))}"


def _shown(path: Path) -> str:
    return one_line(shlex.quote(str(path)), 1000)
