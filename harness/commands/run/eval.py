"""`k3 eval`: run a preset, judge what was measured, and print what may be said."""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from harness.base.errors import Interrupted, UsageError
from harness.base.progress import Progress, bar
from harness.commands.run.dry_run import print_plans
from harness.commands.run.earlier_runs import EarlierRuns
from harness.commands.run.options import Dry, Json, Out, Verbose
from harness.commands.run.output import choose_output
from harness.commands.run.printing import print_outcomes
from harness.commands.run.rounds import run_rounds
from harness.commands.trust_option import TrustCode
from harness.plans.companions import path_beside, plans_beside, settled
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan
from harness.plans.preset_file import load_preset
from harness.plans.requirements import check_requirements
from harness.runs.journal import drop_journal, measured, read_journal, remove_leftovers, settle
from harness.runs.output_lock import output_lock
from reports.journal import journal_of
from reports.printing.say import say
from reports.report import Report
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile


def command(
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="A name of `k3 presets list`, or a TOML file of yours.")
    ],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value.")] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", help="Distinct prompts; not of presets run beside it.")
    ] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", help="Repeats of every prompt in each process.")] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", help="Times the models are loaded anew and all is run.")
    ] = None,
    until_width: Annotated[
        float | None,
        typer.Option("--until-width", help="Add processes until every interval, over its ratio, is so narrow (0.1)."),
    ] = None,
    most_processes: Annotated[
        int | None, typer.Option("--most-processes", help="With --until-width: in all (12 unless the preset says).")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="With --until-width: seconds of all runs; loading is not counted.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the prompts.")] = None,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Run a preset, and print what may be quoted of it.

    What may not be quoted is WITHHELD, with reasons.

    Exit 0: it ran, whatever is withheld; 2: its report breaks a rule; 3: it could not run. Where only the report of an
    earlier run is missing it is 0, too, with `verdict: withheld`; `k3 gate check` of the report exits 2.
    """
    overrides = list(set_ or ())
    if until_width is None and (most_processes, budget) != (None, None):
        raise UsageError("--most-processes and --budget are of a run with --until-width: say how narrow it is to be")
    given: dict[str, float | None] = {
        "samples": samples, "repeats": repeats, "processes": processes, "seed": seed,
        "until_width": until_width, "most_processes": most_processes, "budget_s": budget,
    }  # fmt: skip
    for key, value in given.items():
        if value is not None:
            overrides.append(f"{key}={value}")
    execute(plan_of(load_preset(preset, overrides)), out, json_output=json_output, dry=dry, verbose=verbose)


def execute(plan: Plan, out: Path | None, *, json_output: bool, dry: bool, verbose: bool) -> NoReturn:
    """Measure, judge, write, read back, print; ends the command with the exit code of the verdict.

    The presets that the plan names beside it go first. Where all that was done before, there is nothing to do, and the
    code is 0. With `dry` only the plans are printed, and the code is 3 if something is missing for one.
    """
    beside = plans_beside(plan)
    parts = (*beside, plan)
    if dry:
        raise typer.Exit(print_plans(parts, json_output))
    from gate.judging.judged_file import exit_code

    for part in parts:
        check_requirements(part.preset)
    out = choose_output(plan, out, beside)
    places = [*((part, path_beside(out, part)) for part in beside), (plan, out)]
    finished = all(settled(part, path) for part, path in places)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill is an interruption, too
    earlier = EarlierRuns()
    files = [_settle(part, path, earlier) for part, path in places]
    if finished:
        say(f"k3: {out}: it is finished; nothing to do (`k3 report show` shows it)", sys.stderr)
    if not finished or json_output:
        print_outcomes(files, json_output=json_output, verbose=verbose, judged_with=earlier.found)
    if not finished and not json_output:
        for line in earlier.lines([path for _, path in places]):
            say(line)
        for entry in earlier.retractions():
            print(entry)
    raise typer.Exit(0 if finished else exit_code(file.as_own for file in files))


def _settle(plan: Plan, path: Path, earlier: EarlierRuns) -> "JudgedFile":
    """Measure, judge, write once and read back; a report that was settled before is judged as it stands."""
    from gate.judging.judge import conclude

    if not settled(plan, path):
        with output_lock(path):
            remove_leftovers(path)
            with bar(plan.title) as progress:
                report = measure(plan, path, progress)
            settle(conclude(report, earlier.judge().parity_in(path.parent)), path)
    else:
        drop_journal(path)
    return earlier.judged(path)


def measure(plan: Plan, out: Path, progress: Progress) -> Report:
    """Run what is left of the plan, as far as its looks say.

    Raises:
        Interrupted: says what is kept, and how to go on.
    """
    try:
        return run_rounds(plan, out, progress)
    except KeyboardInterrupt:
        found = read_journal(out)
        kept = measured(found.entries) if found is not None else 0
        told = f"kept {number_of(kept, 'row')} in {journal_of(out)}, and the same command goes on from there"
        raise Interrupted(told if kept else "nothing is kept") from None
