"""`k3 review`: doctor, tests, smoke, parity, and every preset of a suite, in one folder, resumable."""

import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.base.errors import CannotRunError, Interrupted, OutputError
from harness.commands.review.claims import ClaimLine, claim_lines, markdown_table, print_claims
from harness.commands.review.plan import missing, print_plan
from harness.commands.run.options import Dry, Json
from harness.commands.run.output import RUNS
from harness.fetching.progress import tell
from harness.review.folder import ReviewFolder, StepRecord
from harness.review.review import Review
from harness.review.suite import Suite, load_suite
from reports.atomic_file import write_atomically
from reports.printing.say import say

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile


def command(
    suite: Annotated[str, typer.Option("--suite", help="tiny, mac, torch, or a TOML file of yours.")] = "tiny",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Default: k3-runs/review-SUITE; it goes on there.")
    ] = None,
    tests: Annotated[
        Path | None, typer.Option("--tests", metavar="RESULTS.xml", help="Results of a test run, in place of one.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Of every preset, in place of its own.")
    ] = None,
    processes: Annotated[int | None, typer.Option("--processes", min=1, help="Of every preset that is timed.")] = None,
    json_output: Json = False,
    dry: Dry = False,
) -> None:
    """Run every step of a suite, and leave one folder.

    Each step is a process of its own; the folder holds reports, pages and a table of claims.

    The same command goes on where it was killed. Exit 2: a report breaks a rule; 3: a step could not run.
    """
    chosen = load_suite(suite).sized(samples, processes)
    if tests is not None:
        chosen = chosen.with_results(tests)
    place = out or RUNS / f"review-{chosen.name}"
    if dry:
        raise typer.Exit(print_plan(chosen, place, json_output))
    if lacks := missing(chosen):
        more = f" (and {len(lacks) - 1} more; `--plan` shows all)" if len(lacks) > 1 else ""
        raise CannotRunError(f"{lacks[0]}{more}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    review = Review(chosen, _folder(place), tell)
    try:
        records = review.run()
    except KeyboardInterrupt:
        kept = f"finished steps are kept in {place}, and the same command goes on from there"
        raise Interrupted(kept) from None
    judged = _write(review.folder)
    raise typer.Exit(_conclude(chosen, review.folder, records, judged, json_output))


def _folder(place: Path) -> ReviewFolder:
    if place.parent == RUNS:
        try:
            RUNS.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{RUNS}: cannot be made ({error.strerror}); use --out FOLDER") from error
    return ReviewFolder(place)


def _write(folder: ReviewFolder) -> "list[JudgedFile]":
    """Judge all reports in the light of each other, and write pages and table."""
    from gate.judging.batch import judge_paths
    from harness.commands.report.html import write_folder

    judged = judge_paths([folder.reports])
    if judged:
        write_folder(folder.reports, folder.top)
    table = markdown_table(claim_lines(judged))
    write_atomically(table.encode("utf-8", "backslashreplace"), folder.top / "claims.md")
    return judged


def _conclude(
    suite: Suite,
    folder: ReviewFolder,
    records: dict[str, StepRecord],
    judged: "list[JudgedFile]",
    json_output: bool,
) -> int:
    from gate.judging.judged_file import exit_code, tally

    lines = claim_lines(judged)
    if json_output:
        print(json.dumps(_document(suite, folder, records, lines), indent=1))
    else:
        print_claims(lines)
        for name, record in records.items():
            say(f"{record.state:<9} {name}{f': {record.reason}' if record.reason else ''}")
        say(tally(judged))
        say(f"k3: {folder.top / 'index.html'}", sys.stderr)
    failed = any(record.state == "failed" for record in records.values())
    return exit_code(file.as_own for file in judged) or (3 if failed else 0)


def _document(
    suite: Suite, folder: ReviewFolder, records: dict[str, StepRecord], lines: list[ClaimLine]
) -> dict[str, Any]:
    steps = [{"name": name, "state": one.state, "reason": one.reason} for name, one in records.items()]
    return {"suite": suite.name, "folder": str(folder.top), "steps": steps, "claims": [asdict(line) for line in lines]}
