"""The answer: what the command left behind, judged, as one commit on top of the request."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base.processes.guarded import Ended
from harness.base.processes.log_end import end_of
from harness.base.provenance import read_host, without_home
from harness.bridge.execution.environment import Kind
from harness.bridge.execution.job import Desk, Job
from harness.bridge.git import Repository
from harness.bridge.results import LOG, RESULT, RESULT_FOLDER, Outcome, Result, ReturnedFile, record_bytes
from harness.bridge.task import task_of
from harness.bridge.trees import commit_files
from reports.records.record import digest_of
from reports.records.verdict import Verdict
from reports.untrusted.files import read_bounded
from reports.untrusted.one_line import one_line

LOG_BYTES, PRINTED_BYTES = 2**16, 2**22


@dataclass(frozen=True)
class Opinion:
    """What the gate says of a report."""

    name: str
    verdict: Verdict
    codes: tuple[str, ...]


Judge = Callable[[Path], tuple[Opinion, ...]]
"""Judges every report in a folder."""


@dataclass(frozen=True)
class Answerer:
    """Who answers: the versions of K3 and of its rules, its judge, and the SSH key that signs, if any."""

    k3_version: str
    rule_set: int
    judge: Judge
    environment: Kind
    key: Path | None = None


def refusal(repository: Repository, job: Job, who: Answerer) -> str:
    """The commit that says why a request is refused.

    Raises:
        GitError: it cannot be written.
    """
    return _commit(repository, job, who, _result(job, who, "refused", job.reason), {})


def answer(repository: Repository, desk: Desk, job: Job, ended: Ended | None, who: Answerer) -> str:
    """The commit that carries the reports, the end of the log, and how the command ended; `ended` is None where every
    attempt was killed.

    Raises:
        GitError: it cannot be written.
    """
    assert job.request is not None
    log, task = _tail(desk.log), task_of(job.request)
    folder = task.reports(desk.out)
    reports = {path.name: read_bounded(path) for path in sorted(folder.glob("*.json"))} if folder.exists() else {}
    outcome, reason = _outcome(ended, task.finished(desk.out), log)
    opinions = {opinion.name: opinion for opinion in who.judge(folder)} if reports else {}
    printed = {f"{path.stem}.txt": _tail(path, PRINTED_BYTES) for path in task.more(desk.out)}
    files = reports | printed | {LOG: log}
    told = tuple(_returned(name, data, opinions.get(name)) for name, data in files.items())
    result = _result(job, who, outcome, reason).replace(
        exit_code=None if ended is None else ended.exit_code, files=told, base=job.request.base
    )
    return _commit(repository, job, who, result, files)


def _outcome(ended: Ended | None, whole: bool, log: bytes) -> tuple[Outcome, str | None]:
    if whole:
        return "finished", None
    if ended is None:
        return "interrupted", "killed each time it was started"
    if ended.timed_out:
        return "timed_out", "killed at its time limit"
    lines = log.decode("utf-8", "replace").strip().splitlines()
    return "failed", one_line(lines[-1]) if lines else f"exit code {ended.exit_code}, and nothing in the log"


def _result(job: Job, who: Answerer, outcome: Outcome, reason: str | None) -> Result:
    return Result(
        nonce=job.nonce,
        preset=job.preset,
        request=job.commit,
        preset_digest=job.request.preset_digest if job.request else None,
        outcome=outcome,
        reason=reason,
        attempts=job.attempts,
        host=read_host(),
        k3_version=who.k3_version,
        rule_set=who.rule_set,
        environment=who.environment if job.attempts else None,
    )


def _returned(name: str, data: bytes, opinion: Opinion | None) -> ReturnedFile:
    judged = {} if opinion is None else {"verdict": opinion.verdict, "codes": opinion.codes}
    return ReturnedFile.model_validate({"name": name, "bytes": len(data), "digest": digest_of(data)} | judged)


def _commit(repository: Repository, job: Job, who: Answerer, result: Result, files: dict[str, bytes]) -> str:
    placed = {RESULT_FOLDER + name: data for name, data in (files | {RESULT: record_bytes(result)}).items()}
    told = f"Answer {job.preset}: {result.outcome}"
    return commit_files(repository, job.stands_on, placed, told, who.key)


def _tail(log: Path, most: int = LOG_BYTES) -> bytes:
    """The end of a log, without the home folder of the machine's owner."""
    return without_home(end_of(log, most)).encode()
