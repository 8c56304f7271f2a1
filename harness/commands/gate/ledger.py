"""`k3 gate ledger`: the marked figures in prose, held against the reports they name."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.gate.printing import Json, Retractions
from reports.untrusted.one_line import one_line


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Markdown files, and folders of them.")],
    json_output: Json = False,
    allow_none: Annotated[bool, typer.Option("--allow-none", help="It is no error if no figure is marked.")] = False,
    retractions: Retractions = None,
) -> None:
    """Check marked figures in prose against the reports they name. Exit 2 if one no longer holds, 3 if there is
    none."""
    from gate.ledger.check import check_ledger, exit_code
    from gate.render.ledger_text import render_json, render_text
    from reports.retractions import RetractionsError

    try:
        entries = list(check_ledger(paths, retractions or ()))
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    sys.stdout.write(render_json(entries) if json_output else render_text(entries))
    if not entries and not allow_none:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise CannotRunError(
            f"{one_line(str(paths[0]), 1000)}{more}: no marked figure; name the prose that has some, or --allow-none"
        )
    raise typer.Exit(exit_code(entries))
