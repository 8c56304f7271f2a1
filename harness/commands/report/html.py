"""`k3 report html`: pages for a reviewer."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from harness.base.errors import CannotRunError, OutputError
from harness.commands.report.opening import open_report
from harness.commands.report.table import without_report
from harness.commands.report.titles import title_of
from harness.commands.report.writing import write_made_from
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile
    from gate.render.page.html import Entry, Paged


def command(
    path: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", help="A report, or a folder of them.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE|FOLDER",
            help="The page; of a folder, a folder for index and pages. Default: here, named after what is read.",
        ),
    ] = None,
) -> None:
    """Write a report, or a folder of them, as HTML pages.

    A page holds all that it shows; a folder gets a page a report and an index.
    """
    if path.is_dir():
        out = out or _default(path, "-pages")
        problem = write_folder(path, out)
        print(out / "index.html")
        if problem:
            raise CannotRunError(problem)
        return
    out = out or _default(path, ".html")
    from gate.render.page.html import Paged, page

    report, judged = open_report(path)
    write_made_from(path, _bytes(page(Paged(title_of(report), report, judged))), out)
    print(out)


def _default(path: Path, ending: str) -> Path:
    """A name in this folder that nothing has yet.

    Raises:
        OutputError: it is taken, and who wrote it is not known.
    """
    out = Path(path.resolve().stem + ending)
    if out.exists():
        raise OutputError(
            f"{one_line(str(out), 1000)}: is there already; write over it with --out {shlex.quote(str(out))}"
        )
    return out


def write_folder(folder: Path, out: Path) -> str:
    """A page for every report in `folder`, and an index, in the folder `out`.

    Returns: one line about the files that should be reports and are none, which have no page; empty if there are none.

    Raises:
        OutputError: it cannot be written. CannotRunError: no report is there.
    """
    from gate.judging.batch import iterate_paths
    from gate.render.page.html import Paged, index, page

    entries: list[Entry] = []
    files: list[JudgedFile] = []
    missed = []
    for read in iterate_paths([folder]):
        report = read.evidence.report
        if report is None:
            missed += [read.judged] if read.judged.verdict != "not_evidence" or not read.judged.opened else []
            continue
        paged = Paged(title_of(report), report, read.judged)
        name = f"{len(entries):03d}-{Path(read.judged.path).stem[:80]}.html"
        made = _bytes(page(paged))
        _make(out)
        write_made_from(Path(read.judged.path), made, out / name)
        entries.append(_entry(paged, name))
        files.append(read.judged)
    if not entries:
        raise CannotRunError(f"{one_line(str(folder), 1000)}: no report in this folder; name the one that holds them")
    write_made_from(folder, _bytes(index(entries, files)), out / "index.html")
    return without_report(missed)


def _make(out: Path) -> None:
    """The folder of pages, once there is one to put into it: what fails before leaves no empty folder in the way."""
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{one_line(str(out), 1000)}: cannot be made ({error.strerror}); choose another --out"
        ) from error


def _entry(paged: "Paged", name: str) -> "Entry":
    from gate.render.page.html import Entry

    facts = tuple(paged.facts[label] for label in ("model", "machine", "date", "overrides") if label in paged.facts)
    return Entry(paged.title, paged.path, quote(name), paged.state, facts, paged.said, paged.nothing, paged.held)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
