"""`k3 sweep`: a grid of runs on the machines of a Dask scheduler, one run a machine at a time."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gate.judging.batch import judge_paths
from gate.judging.judged_file import exit_code, tally
from gate.judging.rule_set import RULE_SET
from harness.base.clock import now
from harness.base.errors import Interrupted, K3Error, ModelError, OutputError, UsageError
from harness.base.file_lock import HeldError, file_lock
from harness.base.provenance import read_source
from harness.commands.run.options import Json
from harness.commands.run.output import RUNS
from harness.commands.sweep.keeping import is_done, keep
from harness.commands.sweep.on_worker import TASKS
from harness.fetching.progress import tell
from harness.models.info import model_info
from harness.models.resolve import resolve
from harness.plans.preset import NamedModel
from harness.sweep.cells import Cell, cells_of
from harness.sweep.crew import Crew, Digests
from harness.sweep.dispatch import Dispatch, Home
from harness.sweep.messages import Asked, Question, Quiet, WantedModel
from harness.sweep.scheduler import Certificates, check_address, existing, local, read_address
from harness.sweep.sweep_file import read_sweep
from reports.printing.say import say
from reports.untrusted.number_of import number_of

LOCK_S = 60.0
"""Seconds that a worker waits for its machine's lock: the orphan of a killed one lets go of it at once."""


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Presets, settings, seeds and machines.")],
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="tls://HOST:PORT, or HOST:PORT on this machine; default: its own.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Of the own scheduler.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of reports; default: k3-runs/sweep-NAME.")] = None,
    dry: Annotated[bool, typer.Option("--plan", help="Print the cells, and which are there; run nothing.")] = False,
    tls_ca: Annotated[Path | None, typer.Option("--tls-ca", help="PEM file: who signs the certificates.")] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="PEM file: this side's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="PEM file: its key.")] = None,
    unencrypted: Annotated[
        bool, typer.Option("--unencrypted", help="Reach another machine's scheduler without TLS.")
    ] = False,
    busy: Annotated[bool, typer.Option("--busy", help="Run on machines that other programs keep busy, too.")] = False,
    minutes: Annotated[int, typer.Option("--minutes", min=1, max=10_080, help="Most that a cell may take.")] = 720,
    patience: Annotated[
        float, typer.Option("--patience", min=1, help="Seconds to wait while no machine takes a cell.")
    ] = 600,
    json_output: Json = False,
) -> None:
    """Run a grid of presets on many machines, into one folder.

    Every report is judged twice.

    The same command goes on with what the folder lacks. Whoever reaches the scheduler runs code on its workers.
    """
    sweep = read_sweep(file)
    with _named(file):
        cells = cells_of(sweep)
    folder = out if out is not None else RUNS / f"sweep-{sweep.name}"
    if dry:
        _print_plan(cells, folder, json_output=json_output)
        return
    client = _client(scheduler, workers, tls_ca, tls_cert, tls_key, unencrypted=unencrypted)
    _make(folder)
    try:
        with file_lock(folder / ".sweep.lock"):
            todo = [cell for cell in cells if not is_done(cell, folder)]
            tell(f"{number_of(len(cells), 'cell')}, {len(cells) - len(todo)} done, to {folder}")
            with _named(file):
                failed = _run(todo, folder, client, minutes, patience, None if busy else _quiet()) if todo else {}
    except KeyboardInterrupt:
        kept = f"the reports that came are kept in {folder}, and the same command makes the others"
        raise Interrupted(kept) from None
    except HeldError as error:
        raise OutputError(f"{folder}: another sweep writes there; wait for it, or choose another --out") from error
    _conclude(cells, failed, folder, json_output=json_output)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Say of which sweep an error is."""
    try:
        yield
    except K3Error as error:
        raise type(error)(f"{file}: {error}") from error


def _client(
    scheduler: str | None,
    workers: int,
    authority: Path | None,
    certificate: Path | None,
    key: Path | None,
    *,
    unencrypted: bool,
) -> AbstractContextManager[Any]:
    """The way to the scheduler, checked and not yet gone."""
    if authority is not None and certificate is not None and key is not None:
        certificates = Certificates(authority, certificate, key)
    elif authority or certificate or key:
        raise UsageError("--tls-ca, --tls-cert and --tls-key belong together")
    else:
        certificates = None
    if scheduler is None:
        if certificates is not None:
            raise UsageError("certificates are for --scheduler tls://HOST:PORT")
        return local(workers)
    address = read_address(scheduler)
    check_address(address, certificates, unencrypted=unencrypted)
    return existing(address, certificates)


def _run(
    todo: list[Cell],
    folder: Path,
    way: AbstractContextManager[Any],
    minutes: int,
    patience_s: float,
    quiet: Quiet | None,
) -> dict[str, str]:
    """Bring the cells to their ends; those that failed, with the reasons."""
    source = read_source()
    models = tuple(dict.fromkeys(model for cell in todo for model in cell.models()))
    digests = _digests(models)

    def ask(cell: Cell) -> str:
        return Asked(
            name=cell.name,
            preset=cell.preset,
            own=cell.own,
            overrides=cell.plan.loaded.overrides,
            plan=cell.plan.digest(),
            reports=tuple(path.name for path in cell.reports(folder)),
            source=source,
            rule_set=RULE_SET,
            quiet=quiet,
            minutes=minutes,
            patience_s=LOCK_S,
        ).model_dump_json()

    wanted = tuple(WantedModel(role=model.role, name=model.name) for model in models)
    home = Home(ask, lambda cell, answer, files: keep(cell, answer, files, folder, digests), tell)
    begun = now()
    with way as client:
        crew = Crew(source, RULE_SET, digests)
        dispatch = Dispatch(client, crew, TASKS, Question(models=wanted).model_dump_json(), home, patience_s)
        dispatch.work(todo)
        whole = now() - begun
    tell(f"{number_of(dispatch.made, 'cell')} made; the runs took {dispatch.runs_s:.1f} s of {whole:.1f} s")
    return dispatch.failed


def _digests(models: tuple[NamedModel, ...]) -> dict[NamedModel, Digests]:
    """What the models are that home has. Of others the first machine that has one says it."""
    found = {}
    for model in models:
        try:
            info = model_info(resolve(model.name), model.role)
        except ModelError:
            continue
        found[model] = (info.weights, info.config, info.tokenizer)
    return found


def _quiet() -> Quiet:
    from gate.judging.machine import MOST_LOAD, MOST_OTHERS

    return Quiet(others=MOST_OTHERS, load=MOST_LOAD)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror}); choose another --out") from error


def _print_plan(cells: tuple[Cell, ...], folder: Path, *, json_output: bool) -> None:
    rows = [
        {
            "cell": cell.name,
            "preset": cell.plan.preset.name,
            "settings": list(cell.plan.loaded.overrides),
            "machine": cell.machine,
            "done": is_done(cell, folder),
        }
        for cell in cells
    ]
    if json_output:
        print(json.dumps(rows, indent=1))
        return
    for cell, row in zip(cells, rows, strict=True):
        settings = " ".join(cell.plan.loaded.overrides)
        say(f"{'done' if row['done'] else 'to do'}  {cell.name}  {settings}".rstrip())
    say(f"{number_of(len(rows), 'cell')}, {sum(bool(row['done']) for row in rows)} done")


def _conclude(cells: tuple[Cell, ...], failed: dict[str, str], folder: Path, *, json_output: bool) -> None:
    """Judge what is there, all together, and end with the worst that was found."""
    paths = [path for cell in cells if cell.name not in failed for path in cell.reports(folder)]
    files = judge_paths(paths)
    if json_output:
        reports = [{"report": one.path, "verdict": one.verdict} for one in files]
        print(json.dumps({"folder": str(folder), "reports": reports, "failed": failed}, indent=1))
    else:
        for name, why in failed.items():
            say(f"FAILED {name}: {why}")
        say(tally(files))
        say(f"reports: {folder}  (`k3 report table {folder}` pools them)")
    sys.stdout.flush()
    raise typer.Exit(3 if failed else exit_code(file.as_own for file in files))
