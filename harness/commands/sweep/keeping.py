"""What home keeps of a sweep: reports that came over the wire, checked and judged again, in a folder that says all."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from gate.judging.batch import Judge
from harness.base.errors import OutputError
from harness.plans.preset import NamedModel
from harness.sweep.cells import Cell, unlike
from harness.sweep.crew import Digests
from harness.sweep.messages import Answer
from reports.atomic_file import write_atomically
from reports.records.record import digest_of
from reports.report import Report, ReportError, load_report
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.one_line import one_line


def is_done(cell: Cell, folder: Path) -> bool:
    """The cell's report is in the folder, and is of the cell's plan, and so are those beside it.

    Raises:
        OutputError: something else is in its place.
    """
    for path, plan in cell.reports(folder).items():
        if not path.exists():
            return False
        try:
            wrong = unlike(plan, cell.machine, load_report(path))
        except ReportError as error:
            raise OutputError(f"{one_line(str(error), 500)}; move it away") from error
        if wrong is not None:
            raise OutputError(f"{path}: {wrong}; move it away, or choose another --out")
    return True


def keep(
    cell: Cell, answer: Answer, files: Mapping[str, bytes], folder: Path, digests: Mapping[NamedModel, Digests]
) -> str | None:
    """Write what a cell made, the cell's own report last; what is wrong with it, if something is, and then nothing is
    written.

    Raises:
        OutputError: the folder cannot be written.
    """
    paths = cell.reports(folder)
    told = {file.name: file for file in answer.files}
    if len(told) != len(answer.files) or {path.name for path in paths} != set(told) or set(told) != set(files):
        return "other files came than were asked for"
    for name, data in files.items():
        if len(data) > MAX_BYTES or digest_of(data) != told[name].digest:
            return f"{name}: is not what its digest says, or too large"
    try:
        with tempfile.TemporaryDirectory(prefix=".arrived-", dir=folder) as place:
            arrived = Path(place)
            for name, data in files.items():
                (arrived / name).write_bytes(data)
            wrong = _wrong(cell, answer, arrived, digests)
        if wrong is None:
            for path in paths:
                write_atomically(files[path.name], path)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror}); choose another --out") from error
    return wrong


def _wrong(cell: Cell, answer: Answer, arrived: Path, digests: Mapping[NamedModel, Digests]) -> str | None:
    """Read and judge each report here; what it is not, or where the judgement is another one than where it was made."""
    judge = Judge()
    verdicts = {file.name: file.verdict for file in answer.files}
    for path, plan in cell.reports(arrived).items():
        read = judge.read(path)
        report = read.evidence.outcome
        if not isinstance(report, Report):
            return f"{path.name}: no report ({read.judged.reason or read.judged.state})"
        wrong = unlike(plan, cell.machine, report) or _other_model(report, cell, digests)
        if wrong is not None:
            return f"{path.name}: {wrong}"
        verdict = read.judged.as_own.verdict  # other cells' reports arrive later, and are in the folder then
        if verdict != verdicts[path.name]:
            return f"{path.name}: judged {verdict} here, {verdicts[path.name]} where it was made"
    return None


def _other_model(report: Report, cell: Cell, digests: Mapping[NamedModel, Digests]) -> str | None:
    """A model that ran and is none of those that the cell's models were proved to be."""
    allowed = {digests[model] for model in cell.models() if model in digests}
    for model in report.provenance.models if report.provenance is not None else ():
        if (model.weights, model.config, model.tokenizer) not in allowed:
            return f"it ran another {model.role} than its machine had proved"
    return None
