"""`k3 report plot`: one picture of a report as a file, for a paper."""

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError, UsageError
from harness.commands.report.opening import File, open_report
from harness.commands.report.writing import write_made_from
from reports.printing.say import say
from reports.untrusted.nearest import unknown
from reports.untrusted.one_line import one_line

KINDS = ("pdf", "svg", "png")


def command(
    file: File,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help=f"The picture; ends in {', '.join(KINDS)}.")],
    picture: Annotated[str | None, typer.Option("--picture", help="Which one; default: the first there is.")] = None,
) -> None:
    """Write one picture of a report.

    Ratios, speed, stages, acceptance, recall, or error and divergence of codecs.
    """
    from gate.render.pictures.of_report import pictures_of

    kind = out.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise UsageError(f"--out {one_line(str(out))}: end the name in one of {', '.join(KINDS)}")
    report, judged = open_report(file)
    pictures = {one.name: one for one in pictures_of(report, judged)}
    if not pictures:
        raise CannotRunError(f"{one_line(str(file), 1000)}: it holds nothing that is drawn")
    if picture is not None and picture not in pictures:
        raise UsageError(f"--picture: {unknown('picture', picture, pictures)}")
    chosen = pictures[picture or next(iter(pictures))]
    write_made_from(file, chosen.file(kind), out)
    say(f"{out}: {chosen.title.lower()}; it has {', '.join(pictures)}")
