"""`k3 report diff`: two reports side by side."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.report.opening import File, open_report
from harness.commands.report.titles import title_of
from harness.commands.report.writing import write_made_from
from reports.printing.say import say
from reports.untrusted.one_line import one_line


def command(
    first: File,
    second: File,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page of both there.")] = None,
) -> None:
    """Print what differs between two reports.

    Setting, figures, and what may be said.
    """
    if html is not None:
        _write_page(first, second, html)
        return
    from gate.render.tables.drawing import write_table
    from gate.render.tables.show import differences, flat

    rows = list(differences(flat(*open_report(first)), flat(*open_report(second))))
    if not rows:
        say("no difference in setting, figures or claims")
        return
    names = (one_line(str(first)), one_line(str(second)))
    write_table(("", *names), rows, sys.stdout, words=3)


def _write_page(first: Path, second: Path, out: Path) -> None:
    from gate.render.page.html import Paged, side_by_side

    reports = [open_report(path) for path in (first, second)]
    text = side_by_side(*(Paged(title_of(report), report, judged) for report, judged in reports))
    write_made_from(first, text.encode("utf-8", "backslashreplace"), out, others=(second,))
    print(out)
