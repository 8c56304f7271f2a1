"""Asking: a request made of a commit, and pushed as a branch of its own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.base.errors import CannotRunError, UsageError
from harness.base.source_code import FOLDERS
from harness.bridge.exchange import push
from harness.bridge.git import GitError, Repository
from harness.bridge.manifest import MANIFEST, Overrides, Request
from harness.bridge.names import RequestName, check_nonce, check_ref, check_remote, new_nonce
from harness.bridge.results import record_bytes
from harness.bridge.task import first_difference, task_named
from harness.bridge.trees import commit_files, entry_at
from reports.untrusted.number_of import number_of

ASKED = "refs/k3-bridge/asked/"
"""Where the asker's clone keeps the commits of its own requests, so that it knows an answer to another one."""


@dataclass(frozen=True)
class Asker:
    """Who asks: the versions of K3 and of its rules, and the SSH key that signs, if any."""

    k3_version: str
    rule_set: int
    key: Path | None = None


@dataclass(frozen=True)
class Wish:
    """What is asked for, as the command line has it; `preset` names a suite where `kind` says so."""

    kind: Literal["preset", "suite"]
    preset: str
    overrides: Overrides
    ref: str | None
    minutes: int
    nonce: str | None = None


@dataclass(frozen=True)
class Asked:
    """A request that is on the remote."""

    name: RequestName
    commit: str
    base: str


def ask(repository: Repository, remote: str, wish: Wish, asker: Asker) -> Asked:
    """Push a request. The user's branch, index and working tree stay as they are.

    Raises:
        UsageError: a ref, remote, nonce, preset or suite that is none, or a value that the preset does not take.
        CannotRunError: uncommitted changes, a commit whose preset is another, a nonce that was used before, or the
            remote refuses the push.
    """
    check_remote(remote)
    base = _base(repository, wish.ref)
    name = RequestName(wish.preset, check_nonce(wish.nonce) if wish.nonce is not None else new_nonce())
    request = Request(
        kind=wish.kind,
        preset=wish.preset,
        preset_digest=_agreed_digest(repository, base, wish),
        overrides=wish.overrides,
        nonce=name.nonce,
        base=base,
        k3_version=asker.k3_version,
        rule_set=asker.rule_set,
        minutes=wish.minutes,
    )
    # Two who give one nonce within a second would otherwise make one and the same commit, and both pushes would pass.
    message = f"Ask for {wish.preset}\n\nAsked-By: {new_nonce()}"
    commit = commit_files(repository, base, {MANIFEST: record_bytes(request)}, message, asker.key)
    _push_new(repository, remote, name, commit)
    return Asked(name, commit, base)


def asked_commit(repository: Repository, name: RequestName) -> str | None:
    """The commit with which this clone asked, if it did."""
    return repository.commit(ASKED + name.short)


def _base(repository: Repository, ref: str | None) -> str:
    """The commit to be run: the named one, or HEAD if K3's folders are as it has them."""
    commit = repository.commit(check_ref(ref) if ref is not None else "HEAD")
    if commit is None:
        raise UsageError(f"--ref {ref or 'HEAD'}: no such commit here")
    if ref is None:
        changed = repository.text("status", "--porcelain", "--", *FOLDERS).splitlines()
        if changed:
            raise CannotRunError(
                f"unlike HEAD: {number_of(len(changed), 'file')} ({changed[0][3:]} is the first); it would not be run: "
                "commit them, or name the commit to be run with --ref"
            )
    if entry_at(repository, commit, MANIFEST) is not None:
        raise CannotRunError(f"{commit[:12]}: is a request itself: name the commit that it stands on with --ref")
    return commit


def _agreed_digest(repository: Repository, base: str, wish: Wish) -> str:
    """The digest of the preset or suite, which is the same here and in the commit to be run."""
    task = task_named(wish.kind, wish.preset, wish.overrides)
    if (path := first_difference(task, repository, base)) is not None:
        raise CannotRunError(
            f"{path}: not in {base[:12]} as this K3 ships it, and an executor would refuse it: "
            "ask from a K3 of that commit"
        )
    return task.digest


def _push_new(repository: Repository, remote: str, name: RequestName, commit: str) -> None:
    """Push a branch that was not there; the clone remembers it first, so that no request is pushed and forgotten."""
    kept = ASKED + name.short
    if asked_commit(repository, name) is not None:
        raise CannotRunError(f"nonce {name.nonce}: was used before: leave --nonce out")
    repository.git("update-ref", kept, commit, "")
    try:
        push(repository, remote, name, "", commit)
    except GitError as error:
        repository.git("update-ref", "-d", kept, commit)
        if "stale info" in str(error) or "rejected" in str(error):
            raise CannotRunError(f"{name.branch}: is on {remote} already: leave --nonce out") from error
        raise
