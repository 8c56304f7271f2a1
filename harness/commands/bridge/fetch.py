"""`k3 bridge fetch`: what came back for a request, judged here before it is kept."""

import json
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError, OutputError
from harness.bridge.asking import asked_commit
from harness.bridge.exchange import Exchange, bring, exchange_of, list_requests
from harness.bridge.git import RemoteError, Repository
from harness.bridge.names import RequestName, check_remote, request_named
from harness.bridge.results import RESULT, record_bytes
from harness.bridge.returned import ForgedError, Returned, check_report, check_returned
from harness.commands.bridge.options import Remote, Signers, clone_here
from harness.commands.run.options import Json
from reports.printing.say import say
from reports.report import ReportError, load_report

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile

PAUSE = 5.0


@dataclass(frozen=True)
class Kept:
    """An answer that was checked, its reports as they are judged here, and the folder it went to."""

    returned: Returned
    judged: "list[JudgedFile]"
    folder: Path


def command(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="As `k3 bridge request` printed it.")],
    remote: Remote = "origin",
    out: Annotated[Path | None, typer.Option("--out", help="A folder to make; default: k3-runs/REQUEST.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until there is an answer.")] = False,
    asked: Annotated[
        str | None, typer.Option("--asked", metavar="COMMIT", help="The request's commit, where another clone asked.")
    ] = None,
    signers: Signers = None,
    json_output: Json = False,
) -> None:
    """Check, judge and keep what came back.

    It is held to what was asked, judged here, and put into a folder. Exit 2: it was forged, or
    breaks a rule."""
    from gate.judging.judged_file import exit_code

    repository, name = clone_here(), request_named(request)
    folder = out or Path("k3-runs") / name.short
    if folder.exists():
        raise OutputError(f"{folder}: is there already; name another folder with --out")
    commit = asked or asked_commit(repository, name)
    if commit is None:
        raise CannotRunError(f"{name.short}: was not asked from this clone: name the request's commit with --asked")
    exchange = _answered(repository, check_remote(remote), name, commit, wait)
    kept = _keep(check_returned(repository, exchange, commit, signers), folder)
    _print(kept, json_output)
    code = exit_code(kept.judged)
    result = kept.returned.result
    whole = result.outcome == "finished" and result.exit_code != CannotRunError.exit_code
    raise typer.Exit(code if code or whole else 3)


def _answered(repository: Repository, remote: str, name: RequestName, commit: str, wait: bool) -> Exchange:
    """The exchange once it is answered, or once it is no longer that of `commit`."""
    while True:
        try:
            head = list_requests(repository, remote).get(name)
            if head is None:
                raise CannotRunError(f"{name.branch}: is not on {remote}: it was withdrawn")
            bring(repository, remote, {name: head})
            exchange = exchange_of(repository, name, head)
        except RemoteError as error:
            if not wait:
                raise
            say(f"k3: {error}; tried again", sys.stderr)
        else:
            if exchange.state == "answered" or exchange.request != commit:
                return exchange
            if not wait:
                raise CannotRunError(f"{name.branch}: is {exchange.state}, not answered: `--wait` waits for it")
        threading.Event().wait(PAUSE)


def _keep(returned: Returned, folder: Path) -> Kept:
    """Judge the files in a folder beside the one to make, then rename it."""
    from gate.judging.batch import judge_paths

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".k3-bridge-", dir=folder.parent) as scratch:
        inner = Path(scratch) / folder.name
        inner.mkdir()
        for file, data in returned.files.items():
            (inner / file).write_bytes(data)
        judged = judge_paths([inner])
        _compare(returned, judged)
        (inner / RESULT).write_bytes(record_bytes(returned.result))
        inner.rename(folder)
    return Kept(returned, judged, folder)


def _compare(returned: Returned, judged: "list[JudgedFile]") -> None:
    """Hold the reports to the request, and the executor's judgement to ours where both go by the same rules."""
    from gate.judging.rule_set import RULE_SET

    told = {file.name: file for file in returned.result.files}
    for file in judged:
        name = Path(file.path).name
        try:
            check_report(Path(name).stem, load_report(Path(file.path)), returned)
        except ReportError as error:
            raise ForgedError(f"{name}: refused: no report ({str(error).rpartition('/')[2]})") from error
        if returned.result.rule_set == RULE_SET and told[name].verdict != file.verdict:
            raise ForgedError(
                f"{name}: refused: its executor says {told[name].verdict}; judged here it is {file.verdict}"
            )


def _print(kept: Kept, json_output: bool) -> None:
    result = kept.returned.result
    reports = [
        {"file": Path(file.path).name, "verdict": file.verdict, "codes": sorted({one.code for one in file.violations})}
        for file in kept.judged
    ]
    if json_output:
        told = {"outcome": result.outcome, "reason": result.reason, "folder": str(kept.folder), "reports": reports}
        print(json.dumps(told, indent=1))
        return
    say(f"{result.outcome}{f': {result.reason}' if result.reason else ''}")
    for report in reports:
        say(" ".join([str(report["file"]), str(report["verdict"]), *report["codes"]]))
    say(f"folder: {kept.folder}", sys.stderr)
