"""A report as one HTML page that needs nothing from elsewhere: no script, no font, no link to fetch.

Jinja2 templates and matplotlib pictures; both come with the extra `page`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gate.judging.judged_file import JudgedFile, tally
from gate.render.outcome import nothing_said, verdict_words
from gate.render.page.claims import broken_rules, hurdles_of, meanings, shown_claims
from gate.render.page.environment import rendered
from gate.render.page.rows import ROW_COLUMNS, shown_arms
from gate.render.page.tables import measured, origin, table
from gate.render.pictures.canvas import Picture
from gate.render.pictures.of_report import pictures_of
from gate.render.report_header import summary_of
from gate.render.sentences import sentences
from gate.render.tables.show import differences, flat
from gate.render.withheld import Withheld, withheld
from reports.report import Report


@dataclass(frozen=True)
class Paged:
    """A report for a page: what it is called, and what the gate says of it."""

    title: str
    report: Report
    judged: JudgedFile

    @property
    def path(self) -> str:
        """The file it was read from."""
        return self.judged.path

    @property
    def state(self) -> str:
        """Its verdict, in words."""
        return self.judged.state

    @property
    def verdict(self) -> str:
        """The verdict, and whether evidence that holds says nothing all the same."""
        return verdict_words(self.judged)

    @property
    def facts(self) -> dict[str, str]:
        """Model, machine, date and overrides, and how busy the machine was."""
        machine = self.judged.busy or self.judged.machine
        return summary_of(self.report) | ({"load": machine} if machine is not None else {})

    @property
    def said(self) -> tuple[str, ...]:
        """What may be quoted."""
        return sentences(self.judged)

    @property
    def nothing(self) -> str:
        """What stands there where nothing may be quoted."""
        return nothing_said(self.judged)

    @property
    def held(self) -> tuple[Withheld, ...]:
        """What may not, and what to change first."""
        return withheld(self.judged)


@dataclass(frozen=True)
class Side:
    """One of two reports side by side."""

    title: str
    path: str
    state: str
    verdict: str
    facts: dict[str, str]
    said: tuple[str, ...]
    nothing: str
    held: tuple[Withheld, ...]
    pictures: tuple[tuple[Picture, object], ...]


@dataclass(frozen=True)
class Entry:
    """One report in the index of a folder."""

    title: str
    path: str
    link: str
    state: str
    facts: tuple[str, ...]
    said: tuple[str, ...]
    nothing: str
    held: tuple[Withheld, ...]


def page(paged: Paged) -> str:
    """The page of one report: what may be said, pictures, tables, every claim, provenance, rows."""
    report, judged = paged.report, paged.judged
    refused = report.kv_quant.refused if report.kv_quant is not None else ()
    return rendered(
        "report.html",
        title=paged.title,
        state=paged.state,
        verdict=paged.verdict,
        facts=paged.facts,
        source=_source(report, judged),
        report_id=report.report_id,
        said=paged.said,
        nothing=paged.nothing,
        held=paged.held,
        broken=tuple(broken_rules(judged)),
        pictures=tuple(_drawn(report, judged)),
        tables=measured(report, judged),
        refused=[f"{one.name}: {one.reason}" for one in refused],
        claims=tuple(shown_claims(judged)),
        hurdles=hurdles_of(judged),
        stories=tuple(meanings(judged)),
        origin=origin(report),
        arms=tuple(shown_arms(report)),
        row_columns=ROW_COLUMNS,
    )


def side_by_side(first: Paged, second: Paged) -> str:
    """The page of two reports: what may be said of each, their pictures, and what differs."""
    rows = differences(flat(first.report, first.judged), flat(second.report, second.judged))
    columns = ("what", first.path, second.path)
    sides = [
        Side(
            title=one.title,
            path=one.path,
            state=one.state,
            verdict=one.verdict,
            facts=one.facts,
            said=one.said,
            nothing=one.nothing,
            held=one.held,
            pictures=tuple(_drawn(one.report, one.judged, place)),
        )
        for place, one in enumerate((first, second))
    ]
    return rendered("diff.html", sides=sides, differences=table("Setting, figures and claims", columns, rows, 3))


def index(entries: list[Entry], files: list[JudgedFile]) -> str:
    """The page of a folder: a line a report."""
    return rendered("index.html", entries=entries, tally=tally(files))


def _drawn(report: Report, judged: JudgedFile, place: int = 0) -> Iterator[tuple[Picture, object]]:
    """The pictures, ids told apart from those of a report at another `place` of the page."""
    from markupsafe import Markup

    for number, picture in enumerate(pictures_of(report, judged)):
        yield picture, Markup(picture.svg(100 * place + number))


def _source(report: Report, judged: JudgedFile) -> str:
    if report.imported is None:
        return f"Measured by K3, kind {report.kind}."
    return f"Imported by {judged.source or report.imported.importer}: not measured by K3, nothing is verified."
