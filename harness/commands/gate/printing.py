"""How `k3 gate` prints judged files, and the options that its commands share."""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reports.printing.say import say

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile


class Format(StrEnum):
    """How judgements are printed."""

    text = "text"
    json = "json"
    junit = "junit"
    sarif = "sarif"
    github = "github"


Output = Annotated[Format, typer.Option("--format", help="How to print the outcome.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Retractions = Annotated[
    list[Path] | None,
    typer.Option("--retractions", metavar="FILE", help="A retractions file to obey beside those that are found."),
]


def print_files(files: "Sequence[JudgedFile]", output: Format) -> None:
    """Print judged files to stdout in the wanted format, and nothing else."""
    match output:
        case Format.text:
            from gate.render import text

            text.write(files, sys.stdout)
        case Format.json:
            from gate.render import json as json_format

            sys.stdout.write(json_format.render(files))
        case Format.junit:
            from gate.render import junit

            sys.stdout.write(junit.render(files))
        case Format.sarif:
            from gate.render import sarif

            sys.stdout.write(sarif.render(files, Path.cwd()))
        case Format.github:
            from gate.render import github

            sys.stdout.write(github.annotations(files))
            _append_summary(github.summary(files))


def _append_summary(markdown: str) -> None:
    """Add to the summary of the GitHub step, if there is one."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with open(name, "a", encoding="utf-8") as file:
            file.write(markdown)
    except OSError as error:
        say(f"k3: {name}: the step summary cannot be written ({error.strerror})", sys.stderr)
