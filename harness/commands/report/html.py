"""`k3 report html`: the page for a reviewer."""

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.report.opening import File, open_report
from harness.commands.report.writing import write_made_from


def command(
    file: File, out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the page.")]
) -> None:
    """Write a report as one self-contained HTML page."""
    from gate.render.page.html import page

    report, judged = open_report(file)
    write_made_from(file, page(report, judged).encode("utf-8", "backslashreplace"), out)
    print(out)
