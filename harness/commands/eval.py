"""`k3 eval`: run a preset, judge what was measured, and print what may be said."""

import signal
import sys
import tempfile
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from harness.commands.dry_run import print_plan
from harness.commands.options import Dry, Json, Out
from harness.commands.printing import print_outcome
from harness.errors import OutputError
from harness.journal import unfinished
from harness.kinds import plan_of, run_plan
from harness.layer_check import check_layers
from harness.needs import check_needs
from harness.plan import Plan
from harness.preset_file import load_preset
from harness.progress import Progress, bar
from harness.provenance import read_source
from reports.report import Report, load_report, write_report

RUNS = Path("k3-runs")


def command(
    preset: Annotated[str, typer.Option("--preset", help="Name of `k3 presets list`.")],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", help="Distinct prompts.")] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", help="Repeats of every prompt.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the prompts.")] = None,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
) -> None:
    """Run a preset and print the headlines it carries; the rest is WITHHELD, with reasons."""
    overrides = list(set_ or ())
    for key, value in (("samples", samples), ("repeats", repeats), ("seed", seed)):
        if value is not None:
            overrides.append(f"{key}={value}")
    execute(plan_of(load_preset(preset, overrides)), out, json_output, dry)


def execute(plan: Plan, out: Path | None, json_output: bool, dry: bool) -> NoReturn:
    """Measure, judge, write, read back, print; ends the command with the exit code of the verdict.

    With `dry` only the plan is printed, and the code is 3 if something is missing for it.
    """
    if dry:
        raise typer.Exit(print_plan(plan, json_output))
    from gate.batch import Judge
    from gate.judge import conclude
    from gate.judged import exit_code

    check_needs(plan.preset)
    check_layers(plan.preset)
    out = choose_output(plan, out)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill is an interruption, too
    with bar(plan.preset.title) as progress:
        report = measure(plan, out, progress)
    judge = Judge()
    try:
        write_report(conclude(report, judge.parity_in(out.parent)), out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror}); the rows are kept in it") from error
    judged = judge.read(out).judged
    print_outcome(load_report(out), judged, json_output)
    raise typer.Exit(exit_code([judged]))


def measure(plan: Plan, out: Path, progress: Progress) -> Report:
    """Run what is left of the plan; an interruption says how to go on."""
    try:
        return run_plan(plan, out, progress)
    except KeyboardInterrupt:
        found = unfinished(out) if out.exists() else None
        if found is not None and found.plan is not None:
            count = len(found.plan.order or ()) or len(found.kv_quant.oracle if found.kv_quant is not None else ())
            kept = f"{count} runs are kept in {out}; the same command goes on from there"
            print(f"k3: {kept if count else 'nothing was measured yet, so nothing is kept'}", file=sys.stderr)
        else:
            print("k3: interrupted, and nothing is kept", file=sys.stderr)
        raise


def check_output(out: Path) -> None:
    """Refuse, before anything is loaded, a report file that could not be written afterwards.

    Raises:
        OutputError: a folder, in no folder, in one that cannot be written, or a file that is no unfinished run.
    """
    if out.is_dir():
        raise OutputError(f"{out}: is a folder; name a file in it with --out")
    if not out.parent.is_dir():
        raise OutputError(f"{out}: its folder does not exist; make it, or choose another --out")
    try:
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise OutputError(f"{out}: its folder cannot be written ({error.strerror}); choose another --out") from error
    if (out.exists() or out.is_symlink()) and unfinished(out) is None:
        raise OutputError(f"{out}: exists and is no unfinished run; choose another --out")


def choose_output(plan: Plan, out: Path | None) -> Path:
    """`out`, or the unfinished run of the same plan and code in k3-runs/, or the next free name there.

    Raises:
        OutputError: the folder cannot be made or written.
    """
    if out is not None:
        check_output(out)
        return out
    try:
        RUNS.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{RUNS}: cannot be made ({error.strerror}); use --out FILE") from error
    stem = f"{plan.preset.name}-{plan.digest()[7:15]}"
    number = 1
    while (path := RUNS / f"{stem}-{number}.json").exists() and not _goes_on(path):
        number += 1
    return path


def _goes_on(path: Path) -> bool:
    """The report at `path` is unfinished, and of the code that would go on with it."""
    found = unfinished(path)
    return found is not None and found.provenance is not None and found.provenance.source == read_source()
