"""What came back, held against what was asked, before a byte of it is written anywhere."""

from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import K3Error
from harness.bridge.exchange import Exchange, read_request
from harness.bridge.git import Repository
from harness.bridge.manifest import Request, RequestError
from harness.bridge.results import CLAIM, RESULT, RESULT_FOLDER, Result, read_result
from harness.bridge.task import task_of
from harness.bridge.trees import FILE, Entry, changes, parents, read_blob, signed, size_of
from harness.models.folder.files import LFS_POINTER
from reports.records.record import digest_of
from reports.report import Report
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.one_line import one_line


class ForgedError(K3Error):
    """What came back is not an answer to what was asked, or was changed since; nothing of it is kept."""

    exit_code = 2


@dataclass(frozen=True)
class Returned:
    """An answer whose commits, names and digests are what they should be; its reports are not judged yet."""

    request: Request
    result: Result
    files: dict[str, bytes]


def check_returned(repository: Repository, exchange: Exchange, asked: str, signers: Path | None) -> Returned:
    """The answer to the request that was asked with the commit `asked`.

    Raises:
        ForgedError: the branch was rewritten or added to; the answer is to another request, of another commit or
            preset; a file was changed, or is a Git-LFS pointer; or it is not signed by one of `signers`.
    """
    try:
        if exchange.request != asked or exchange.result is None:
            raise RequestError(f"it does not stand on {asked[:12]}, with which it was asked: the branch was rewritten")
        request = read_request(repository, exchange.name, asked)
        files = _files(repository, exchange)
        result = read_result(repository, exchange.result)
        _check_result(result, request, exchange)
        _check_files(result, files)
    except RequestError as error:
        raise ForgedError(f"{exchange.name.branch}: refused: {error}") from error
    if signers is not None and not signed(repository, exchange.result, signers):
        raise ForgedError(f"{exchange.name.branch}: refused: it is not signed with a key of {signers}")
    return Returned(request, result, files)


def check_report(name: str, report: Report, returned: Returned) -> None:
    """See that the report of this name is of the preset, the settings and the commit that were asked for.

    Raises:
        ForgedError: it is of others.
    """
    request, where = returned.request, f"{name}: refused"
    made, source = report.preset, report.provenance.source if report.provenance else None
    if source is None or (source.git_commit, source.dirty) != (request.base, False):
        raise ForgedError(f"{where}: provenance.source: is not commit {request.base[:12]}, unchanged")
    if not task_of(request).allows(name, made):
        raise ForgedError(f"{where}: preset: it, its digest or its settings are not those that were asked for")


def _files(repository: Repository, exchange: Exchange) -> dict[str, bytes]:
    """What the answer adds, by name, if claim and answer add their files and nothing else."""
    assert exchange.result is not None
    if exchange.claim is not None:
        added = _added(repository, exchange.request, exchange.claim)
        if [entry.path for entry in added] != [CLAIM]:
            raise RequestError(f"its claim adds more than {CLAIM}")
    added = _added(repository, exchange.claim or exchange.request, exchange.result)
    files = {}
    for entry in added:
        name = entry.path.removeprefix(RESULT_FOLDER)
        if not entry.path.startswith(RESULT_FOLDER) or "/" in name:
            raise RequestError(f"it changes {one_line(entry.path, 100)}")
        if size_of(repository, entry.blob) > MAX_BYTES:
            raise RequestError(f"{one_line(name, 100)}: over {MAX_BYTES >> 20} MiB")
        files[name] = read_blob(repository, entry.blob)
    return {name: data for name, data in files.items() if name != RESULT}


def _added(repository: Repository, parent: str, commit: str) -> list[Entry]:
    if parents(repository, commit) != [parent]:
        raise RequestError("it is a merge")
    changed = changes(repository, parent, commit)
    for change in changed:
        if change.letter != "A" or change.after.mode != FILE:
            raise RequestError(f"it changes or removes {one_line(change.after.path, 100)}, or it is no plain file")
    return [change.after for change in changed]


def _check_result(result: Result, request: Request, exchange: Exchange) -> None:
    expected = {
        "nonce": request.nonce,
        "preset": request.preset,
        "request": exchange.request,
        "base": None if result.outcome == "refused" else request.base,
        "preset_digest": result.preset_digest if result.outcome == "refused" else request.preset_digest,
    }
    for field, value in expected.items():
        if getattr(result, field) != value:
            raise RequestError(f"{RESULT}: {field}: is not that of the request")
    if exchange.claim is None and result.outcome != "refused":
        raise RequestError("no executor took the request before it was answered")


def _check_files(result: Result, files: dict[str, bytes]) -> None:
    told = {file.name: file for file in result.files}
    if set(told) != set(files) or len(told) != len(result.files):
        raise RequestError(f"{RESULT}: files: names others than came")
    for name, data in files.items():
        if LFS_POINTER.fullmatch(data[:1024]):
            raise RequestError(f"{name}: a Git-LFS pointer in place of the file")
        if (told[name].bytes, told[name].digest) != (len(data), digest_of(data)):
            raise RequestError(f"{name}: was changed after the executor wrote it")
