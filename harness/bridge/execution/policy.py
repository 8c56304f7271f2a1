"""What the owner of an executing machine allows. A policy only narrows what the bridge allows by itself."""

import os
import re
from pathlib import Path

from platformdirs import user_config_path
from pydantic import Field, ValidationError

from harness.base.errors import CannotRunError
from harness.bridge.exchange import fetch
from harness.bridge.git import NETWORK_SECONDS, GitError, Repository
from harness.bridge.manifest import Request
from harness.bridge.trees import signed
from reports.records.record import Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line
from reports.untrusted.toml import TomlError, parse_toml


class Policy(Record):
    """A field that is left out narrows nothing."""

    presets: tuple[str, ...] | None = Field(None, description="That may be asked; with it, only suites in `suites`")
    suites: tuple[str, ...] | None = Field(None, description="That may be asked; with it, only presets in `presets`")
    models: tuple[str, ...] | None = Field(None, description="Variables that a request may name: K3_MAC_26B")
    samples: int | None = Field(None, ge=1, description="At most")
    minutes: int | None = Field(None, ge=1, description="At most")
    commits_on: str | None = Field(
        None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", description="A branch of the remote that holds the commit"
    )
    signers: str | None = Field(None, description="An allowed-signers file of ssh-keygen; unsigned requests do not run")


def default_policy() -> Path:
    """Where a machine's policy is looked for."""
    return user_config_path("k3") / "bridge.toml"


def read_policy(path: Path | None) -> Policy:
    """The policy in `path`, or the machine's own, or one that narrows nothing where there is none.

    Raises:
        CannotRunError: it is not there, or no policy: nothing runs on a machine whose owner was not understood.
    """
    if path is None:
        path = default_policy()
        if not path.exists():
            return Policy()
    try:
        document = parse_toml(read_bounded(path))
        return Policy.model_validate({k: tuple(v) if isinstance(v, list) else v for k, v in document.items()})
    except RefusedFileError as error:
        raise CannotRunError(f"{path}: {error}") from error
    except ValidationError as error:  # a ValueError, too, and no fault of the TOML
        raise CannotRunError(f"{path}: {describe_invalid(error, Policy)}") from error
    except TomlError as error:
        raise CannotRunError(f"{path}: no TOML: {one_line(str(error))}") from error


def forbidden(policy: Policy, request: Request) -> str | None:
    """Why this machine leaves the request to another one; None if it may run here."""
    asked = request.overrides
    listed = {"preset": policy.presets, "suite": policy.suites}
    if any(names is not None for names in listed.values()) and request.preset not in (listed[request.kind] or ()):
        return f"{request.kind} {request.preset} is not allowed here"
    if policy.samples is not None and (asked.samples or 0) > policy.samples:
        return f"{number_of(asked.samples, 'sample')}; {policy.samples} are allowed here"
    if policy.minutes is not None and request.minutes > policy.minutes:
        return f"{number_of(request.minutes, 'minute')}; {policy.minutes} are allowed here"
    if asked.model is not None:
        variable = re.sub(r"[${}]|ENV:", "", asked.model)
        if policy.models is not None and variable not in policy.models:
            return f"model {asked.model} is not allowed here"
        if not os.environ.get(variable):
            return f"model {asked.model} is not set here"
    return None


def untrusted(policy: Policy, repository: Repository, remote: str, request: Request, commit: str) -> str | None:
    """Why this machine does not trust the request's commit, or the one it is to run; None if it does.

    Raises:
        GitError: the remote does not answer.
    """
    if policy.signers is not None and not signed(repository, commit, Path(policy.signers)):
        return "it is not signed with a key that is allowed here"
    if policy.commits_on is not None:
        ref = f"refs/heads/{policy.commits_on}"
        told = repository.text("ls-remote", "--refs", "--", remote, ref, seconds=NETWORK_SECONDS)
        head = told.partition("\t")[0]
        if not head:
            return f"{remote} has no branch {policy.commits_on}"
        fetch(repository, remote, [ref])
        try:
            repository.git("merge-base", "--is-ancestor", request.base, head)
        except GitError:
            return f"commit {request.base[:12]} is not on {policy.commits_on}"
    return None
