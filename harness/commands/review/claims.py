"""The table of claims: what every report of a review asserts, and whether it may be printed."""

import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from gate.judging.judged_file import JudgedFile
from gate.render.headline import three_digits
from gate.render.markdown import markdown_text
from gate.render.tables.drawing import write_table

COLUMNS = ("report", "claim", "status", "value", "withheld by")


@dataclass(frozen=True)
class ClaimLine:
    """A claim of a report; a report that asserts nothing has one line, its verdict."""

    report: str
    claim: str
    status: str
    value: str
    withheld_by: str


def claim_lines(files: Sequence[JudgedFile]) -> list[ClaimLine]:
    """Every claim, admitted or withheld, in the order of the reports; those left out of a report with their reasons."""
    return [line for file in files for line in _of_file(file)]


def _of_file(file: JudgedFile) -> list[ClaimLine]:
    name = Path(file.path).stem
    held = {claim.name for claim in file.withheld}
    lines = [
        ClaimLine(
            name,
            claim.name,
            "withheld" if claim.name in held else "admitted",
            three_digits(claim.value) if claim.name not in held and claim.value is not None else "",
            " ".join(claim.withheld_by),
        )
        for claim in file.claims
    ]
    codes = " ".join(sorted({violation.code for violation in file.violations}))
    return lines or [ClaimLine(name, "", file.state, "", codes)]


def markdown_table(lines: Sequence[ClaimLine]) -> str:
    """The table as Markdown."""
    rows = [" | ".join(map(markdown_text, astuple(line))) for line in lines]
    head = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    return "".join(f"| {row} |\n" for row in (*head, *rows))


def print_claims(lines: Sequence[ClaimLine]) -> None:
    """The table on standard output."""
    rows = [(line.report, line.claim, line.status, line.value, line.withheld_by) for line in lines]
    write_table(COLUMNS, rows, sys.stdout, words=len(COLUMNS))
