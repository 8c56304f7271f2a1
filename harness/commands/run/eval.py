"""`k3 eval`: run a preset, judge what was measured, and print what may be said."""

import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from harness.base.errors import OutputError
from harness.base.progress import Progress, bar
from harness.base.provenance import read_source
from harness.commands.run.dry_run import print_plans
from harness.commands.run.options import Dry, Json, Out
from harness.commands.run.printing import print_outcomes
from harness.plans.companions import path_beside, plans_beside, settled
from harness.plans.kinds import plan_of, run_plan
from harness.plans.layer_check import check_layers
from harness.plans.plan import Plan
from harness.plans.preset_file import load_preset
from harness.plans.requirements import check_needs
from harness.runs.journal import unfinished
from reports.report import Report, write_report

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile

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

    The presets that the plan names beside it go first. With `dry` only the plans are printed, and the code is 3 if
    something is missing for one.
    """
    beside = plans_beside(plan)
    parts = (*beside, plan)
    if dry:
        raise typer.Exit(print_plans(parts, json_output))
    from gate.judging.judged_file import exit_code

    for part in parts:
        check_needs(part.preset)
        check_layers(part.preset)
    out = choose_output(plan, out, beside)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill is an interruption, too
    files = [_settle(part, path_beside(out, part)) for part in beside]
    files.append(_settle(plan, out))
    print_outcomes(files, json_output)
    raise typer.Exit(exit_code(files))


def _settle(plan: Plan, path: Path) -> "JudgedFile":
    """Measure, judge, write and read back; a report that was settled before is judged as it stands."""
    from gate.judging.batch import Judge
    from gate.judging.judge import conclude

    judge = Judge()
    if not settled(plan, path):
        with bar(plan.preset.title) as progress:
            report = measure(plan, path, progress)
        try:
            write_report(conclude(report, judge.parity_in(path.parent)), path)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}); the rows are kept in it") from error
    return judge.read(path).judged


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


def choose_output(plan: Plan, out: Path | None, beside: Sequence[Plan] = ()) -> Path:
    """`out`, or the unfinished run of the same plan and code in k3-runs/, or the next free name there.

    Raises:
        OutputError: the folder cannot be made or written, or what belongs beside `out` has no place there.
    """
    if out is not None:
        check_output(out)
        for part in beside:
            path = path_beside(out, part)
            if path.exists() and unfinished(path) is None and not _stands(part, path):
                raise OutputError(
                    f"{path}: exists and is no whole run of {part.preset.name} by this code; choose another --out"
                )
        return out
    try:
        RUNS.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{RUNS}: cannot be made ({error.strerror}); use --out FILE") from error
    stem = f"{plan.preset.name}-{plan.digest()[7:15]}"
    number = 1
    while not _has_room(path := RUNS / f"{stem}-{number}.json", beside):
        number += 1
    return path


def _has_room(out: Path, beside: Sequence[Plan]) -> bool:
    """Nothing is at `out`, or a run to go on with; nor beside it, or what is settled."""
    paths = [(part, path_beside(out, part)) for part in beside]
    return _goes_on(out) and all(_goes_on(path) or _stands(part, path) for part, path in paths)


def _stands(part: Plan, path: Path) -> bool:
    """The report of `part` is at `path`, and was not edited since it was settled."""
    from gate.judging.batch import Judge

    return settled(part, path) and Judge().read(path).judged.verdict != "invalid"


def _goes_on(path: Path) -> bool:
    """The report at `path` is not begun, or unfinished and of the code that would go on with it."""
    found = unfinished(path)
    ours = found is not None and found.provenance is not None and found.provenance.source == read_source()
    return ours or not path.exists()
