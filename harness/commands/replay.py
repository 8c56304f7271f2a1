"""`k3 replay`: rows of somebody's report, drawn at random, run again here, and a report of what came out the same."""

import secrets
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import OutputError, UsageError
from harness.base.progress import bar
from harness.commands.run.options import Json, Verbose
from harness.commands.run.output import check_output
from harness.commands.run.printing import print_outcomes
from harness.commands.trust_option import TrustCode
from harness.plans.preset import Device
from reports.engines import TORCH, Backend
from reports.printing.say import say
from reports.report import Report

SEEDS = 2**31


def command(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report that K3 measured, here or elsewhere.")],
    rows: Annotated[int, typer.Option(min=1, max=10_000, help="Rows drawn at random from all of the report.")] = 10,
    seed: Annotated[
        int | None, typer.Option(min=0, max=SEEDS, help="Of the draw; default: one that nobody could foresee.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A folder or name of a model, taken if it has the digest.")
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="The JSON Lines file of a report whose prompts are its author's own.")
    ] = None,
    preset: Annotated[Path | None, typer.Option(help="The TOML file of a report whose preset does not ship.")] = None,
    backend: Annotated[
        Backend | None,
        typer.Option(help="Run the rows on this one, to compare the two; default: the report's."),
    ] = None,
    device: Annotated[Device | None, typer.Option(help="Of --backend torch.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Replay file; default: a new one beside REPORT.")] = None,
    json_output: Json = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Run rows of a report again, drawn at random, and compare.

    A file beside the report tells what came out the same.

    Models are found by their digests, prompts are made again from seed and generator. Tokens, texts, drafts accepted in
    every block, positions, bytes and errors of codecs must be the same; times are shown and never judged. The gate
    reads the replay beside the report: how much of the report it confirms, and which claims it contradicts.

    With --backend torch the rows of a report of MLX run on PyTorch (and with mlx the other way round): how many come
    out the same tells whether the engines of both are at par, and says nothing against the report.
    """
    from harness.replay.replay import replay
    from harness.replay.request import ReplayRequest, replayable
    from reports.reading.reader import read_evidence

    if device is not None and backend != TORCH:
        raise UsageError("--device: only PyTorch has several; give --backend torch with it, or leave it out")
    evidence = read_evidence(report)
    original = replayable(evidence)
    place = out if out is not None else _beside(report)
    check_output(place)
    assert evidence.digest is not None
    request = ReplayRequest(
        report=original,
        digest=evidence.digest,
        rows=rows,
        seed=seed if seed is not None else secrets.randbelow(SEEDS),
        models=tuple(model or ()),
        prompts=prompts,
        preset=preset,
        backend=backend,
        device=device,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill is an interruption, too
    with bar(f"replay of {original.report_id}") as progress:
        made = replay(request, progress)
    _settle(made, report, place, json_output=json_output, verbose=verbose)


def _beside(report: Path) -> Path:
    """The next free name in the folder of the report."""
    number = 1
    while (path := report.parent / f"{report.stem}-replay-{number}.json").exists():
        number += 1
    return path


def _settle(made: Report, report: Path, out: Path, *, json_output: bool, verbose: bool) -> None:
    """Judge, write once, read back beside its report, print, and exit with the code that the verdict has."""
    from gate.judging.batch import judge_paths
    from gate.judging.judge import conclude
    from gate.judging.judged_file import exit_code
    from reports.report import write_report

    try:
        write_report(conclude(made), out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); choose another --out") from error
    own = [file for file in judge_paths([report, out]) if file.path == str(out)]
    print_outcomes(own, json_output=json_output, verbose=verbose)
    if not json_output:
        say(f"k3: drawn with seed {made.replay.seed if made.replay else 0}", sys.stderr)
    raise typer.Exit(exit_code(own))
