"""Requests on a remote: which there are, how far each came, and what each asks.

Branches are listed and their commits fetched without writing a ref, so that a kill leaves no lock of git's behind.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from harness.bridge.git import NETWORK_SECONDS, GitError, Repository
from harness.bridge.manifest import MANIFEST, MANIFEST_LIMIT, Request, RequestError, parse_request
from harness.bridge.names import PREFIX, RequestName, name_of
from harness.bridge.results import CLAIM, RESULT, RESULT_FOLDER
from harness.bridge.trees import FILE, KINDS, changes, parents, read_blob, size_of

State = Literal["waiting", "claimed", "answered"]


@dataclass(frozen=True)
class Exchange:
    """A request and what was answered so far, as commits: request, claim of an executor, result."""

    name: RequestName
    head: str
    request: str
    claim: str | None = None
    result: str | None = None

    @property
    def state(self) -> State:
        """How far it came."""
        return "answered" if self.result else "claimed" if self.claim else "waiting"


def list_requests(repository: Repository, remote: str) -> dict[RequestName, str]:
    """The newest commit of every branch of a request; branches of other names are none.

    Raises:
        GitError: the remote does not answer.
    """
    told = repository.text("ls-remote", "--refs", "--", remote, f"refs/heads/{PREFIX}*", seconds=NETWORK_SECONDS)
    pairs = (line.split("\t") for line in told.split("\n") if "\t" in line)
    named = ((name_of(ref.removeprefix("refs/heads/")), commit) for commit, ref in pairs)
    return {name: commit for name, commit in named if name is not None}


def bring(repository: Repository, remote: str, wanted: dict[RequestName, str]) -> None:
    """Fetch the branches whose newest commits are not here; one with unsound objects stays away, the others come.

    Raises:
        GitError: the remote does not answer.
    """
    missing = [name for name, commit in wanted.items() if repository.commit(commit) is None]
    refs = [f"refs/heads/{name.branch}" for name in missing]
    try:
        fetch(repository, remote, refs)
    except GitError:
        list_requests(repository, remote)
        for ref in refs:
            with suppress(GitError):
                fetch(repository, remote, [ref])


def fetch(repository: Repository, remote: str, refs: list[str]) -> None:
    """Fetch what full refs of the remote name, and write no ref for it.

    Raises:
        GitError: the remote does not answer, or one of them is not there or unsound.
    """
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=")
    if refs:
        repository.git("fetch", *options, "--", remote, *refs, seconds=NETWORK_SECONDS)


def push(repository: Repository, remote: str, name: RequestName, old: str, new: str) -> None:
    """Move the branch of a request from `old` to `new`; an empty `old` is a branch that is not there yet.

    Raises:
        GitError: the branch is elsewhere, or the remote refuses it or does not answer.
    """
    branch = f"refs/heads/{name.branch}"
    lease = f"--force-with-lease={branch}:{old}"
    repository.git("push", "--quiet", lease, "--", remote, f"{new}:{branch}", seconds=NETWORK_SECONDS)


def read_exchanges(repository: Repository, remote: str) -> list[Exchange]:
    """Every request on the remote, the oldest first.

    Raises:
        GitError: the remote does not answer.
    """
    heads = list_requests(repository, remote)
    bring(repository, remote, heads)
    found = [exchange_of(repository, name, head) for name, head in heads.items() if repository.commit(head)]
    return sorted(found, key=lambda one: (_asked_at(repository, one.request), one.name.branch))


def exchange_of(repository: Repository, name: RequestName, head: str) -> Exchange:
    """The exchange whose newest commit is `head`; what is neither result nor claim is taken for the request.

    Raises:
        GitError: a commit is not here.
    """
    below, result = head, None
    if _changes_file(repository, below, RESULT_FOLDER + RESULT):
        result, below = below, parents(repository, below)[0]
    if _changes_file(repository, below, CLAIM):
        return Exchange(name, head, parents(repository, below)[0], below, result)
    return Exchange(name, head, below, None, result)


def read_request(repository: Repository, name: RequestName, commit: str) -> Request:
    """What the commit asks.

    Raises:
        RequestError: the commit does anything but add a manifest, or the manifest is refused, or it is of another
            request than its branch or of another commit than the one below it.
    """
    above = parents(repository, commit)
    if len(above) != 1:
        raise RequestError(f"the request's commit has {len(above)} parents; it stands on the one commit to be run")
    changed = changes(repository, above[0], commit)
    if len(changed) != 1 or changed[0].after.path != MANIFEST or changed[0].letter != "A":
        raise RequestError(f"the request's commit does not add {MANIFEST} and nothing else")
    entry = changed[0].after
    if entry.mode != FILE:
        raise RequestError(f"{MANIFEST}: is {KINDS.get(entry.mode, 'a program')}, not a plain file")
    size = size_of(repository, entry.blob)
    if size > MANIFEST_LIMIT:
        raise RequestError(f"{MANIFEST}: {size} bytes; the limit is {MANIFEST_LIMIT}")
    request = parse_request(read_blob(repository, entry.blob))
    if (request.preset, request.nonce) != (name.preset, name.nonce):
        raise RequestError(f"{MANIFEST}: preset and nonce are not those of its branch")
    if request.base != above[0]:
        raise RequestError(f"{MANIFEST}: base: is not the commit that the request stands on")
    return request


def _changes_file(repository: Repository, commit: str, path: str) -> bool:
    """The commit has one parent and writes a file there. Whether it does more, `fetch` asks: an executor that did not
    know its own answer again, whatever a hostile request holds, would answer for ever."""
    above = parents(repository, commit)
    return len(above) == 1 and any(change.after.path == path for change in changes(repository, above[0], commit))


def _asked_at(repository: Repository, commit: str) -> int:
    """Seconds since 1970, as the asker's clock says."""
    return int(repository.text("show", "--no-patch", "--no-show-signature", "--format=%ct", commit, "--"))
