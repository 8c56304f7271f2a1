"""`k3 bridge doctor`: what either side of the bridge lacks, and the command that mends it."""

import json
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import typer

from harness.base.errors import CannotRunError
from harness.base.provenance import memory_bytes
from harness.bridge.execution.policy import default_policy, read_policy
from harness.bridge.git import GitError, Repository
from harness.bridge.names import PREFIX, check_remote
from harness.commands.bridge.options import Remote, clone_here
from harness.commands.run.options import Json
from harness.models.registry import registry
from harness.models.to_fetch import fetches_of
from harness.plans.preset_file import load_preset, preset_names
from reports.printing.say import say

LEAST_GIB = 2


@dataclass(frozen=True)
class Check:
    """Something that a side needs; `remedy` is empty where it is there. Without what is `optional` the bridge works."""

    side: str
    what: str
    remedy: str = ""
    optional: bool = False


def command(remote: Remote = "origin", json_output: Json = False) -> None:
    """Show what asking and executing need here, and what mends it. Exit 3: something that both need is missing."""
    check_remote(remote)
    checks = [*_checks(remote)]
    if json_output:
        print(json.dumps([asdict(check) for check in checks], indent=1))
    else:
        for check in checks:
            state = "ok" if not check.remedy else "optional" if check.optional else "MISSING"
            say(f"{state:<9} {check.side}: {check.what}{f' -> {check.remedy}' if check.remedy else ''}")
    raise typer.Exit(3 if any(check.remedy and not check.optional for check in checks) else 0)


def _checks(remote: str) -> Iterator[Check]:
    yield Check("both", "git", "" if shutil.which("git") else "install git")
    try:
        repository = clone_here()
    except CannotRunError:
        yield Check("both", "a clone of K3", "run it in the folder that git clone made")
        return
    yield Check("both", f"a clone of K3 in {repository.root}")
    yield _tried(repository, f"remote {remote}", f"git remote add {remote} ADDRESS", "remote", "get-url", "--", remote)
    reach = "check the address and the key; ssh and https work, https with a helper in the clone's own config"
    yield _tried(repository, f"{remote} answers", reach, "ls-remote", "--heads", "--", remote, f"{PREFIX}*")
    push = ("push", "--dry-run", "--quiet", "--", remote, f"HEAD:refs/heads/{PREFIX}doctor")
    yield _tried(repository, f"{remote} takes a push", "ask for the right to push, or add a deploy key", *push)
    signing = "" if shutil.which("ssh-keygen") else "install OpenSSH"
    yield Check("both", "ssh-keygen, which signs", signing, optional=True)
    yield from _executing(repository)


def _executing(repository: Repository) -> Iterator[Check]:
    try:
        read_policy(None)
    except CannotRunError as error:
        yield Check("executor", "its policy", str(error))
    else:
        there = "" if default_policy().exists() else f"write {default_policy()}; without it whoever can push runs code"
        yield Check("executor", "a policy of its own", there, optional=True)
    free = shutil.disk_usage(repository.root).free / 2**30
    room = "" if free >= LEAST_GIB else "delete something"
    yield Check("executor", f"{free:.0f} GiB free; {LEAST_GIB} are needed", room)
    metal = platform.system() == "Darwin" and platform.machine() == "arm64"
    yield Check("executor", "Metal", "" if metal else "only presets for any platform run here", optional=True)
    memory = memory_bytes() / 1e9
    most = max(load_preset(name).preset.memory_gb or 0 for name in preset_names())
    fits = "" if memory >= most else f"the Mac presets need {most:g} GB; smaller models run here"
    yield Check("executor", f"{memory:.0f} GB of memory", fits, optional=True)
    for model in fetches_of(registry().models):
        yield Check("executor", f"model {model.name}", "" if model.here else model.command, optional=True)


def _tried(repository: Repository, what: str, remedy: str, *arguments: str) -> Check:
    try:
        repository.git(*arguments, seconds=60)
    except GitError as error:
        return Check("both", f"{what} ({error})", remedy)
    return Check("both", what)
