"""Whether both sides mean the same: the preset or suite is the executor's own, and the commit's files are files."""

from harness.base.errors import UsageError
from harness.bridge.git import Repository
from harness.bridge.manifest import Request, RequestError
from harness.bridge.task import Task, first_difference, task_of
from harness.bridge.trees import KINDS, Entry, entries
from reports.untrusted.one_line import one_line

MOST_FILES, MOST_BYTES = 20_000, 2**31
"""Of a commit. K3 has some 1,000 files, and 50 MB with its own models."""


def check_agreed(repository: Repository, request: Request) -> Task:
    """The preset that the request asks for, as this K3 ships it, changed as the request says; or the suite.

    Raises:
        RequestError: this K3 has none such, or another one than the requester or the commit; a value that the preset
            does not take; or a commit that holds more than files.
    """
    try:
        task = task_of(request)
    except UsageError as error:
        raise RequestError(str(error)) from error
    if request.preset_digest != task.digest:
        raise RequestError(f"preset_digest: the executor's {request.preset} is another: update K3 on either side")
    if (path := first_difference(task, repository, request.base)) is not None:
        raise RequestError(f"{path}: was edited in the commit to be run, or is not in it; the executor has its own")
    check_tree(entries(repository, request.base))
    return task


def check_tree(found: list[Entry]) -> None:
    """See that a commit can be written out as plain files.

    Raises:
        RequestError: a link, a submodule, a path that git or a file system would misread, or too much of it.
    """
    for entry in found:
        if entry.mode in KINDS:
            raise RequestError(f"{one_line(entry.path, 100)}: is {KINDS[entry.mode]}; commit the files")
        parts = entry.path.split("/")
        if any(part.lower() in ("", ".", "..", ".git") or not part.isprintable() for part in parts):
            raise RequestError(f"{one_line(entry.path, 100)}: is no path to write to")
    if len({entry.path.lower() for entry in found}) < len(found):
        raise RequestError("two paths differ in upper and lower case alone")
    if len(found) > MOST_FILES or sum(entry.size for entry in found) > MOST_BYTES:
        raise RequestError(f"{len(found)} files: over {MOST_FILES}, or over {MOST_BYTES >> 30} GiB")
