"""Git as a process: argument lists, a closed environment, and nothing run that a repository's content asks for."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CannotRunError
from reports.untrusted.one_line import one_line

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.ssh.allow=always",
    "protocol.https.allow=always",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "push.gpgSign=false",
    "gpg.format=ssh",
    "gpg.ssh.program=ssh-keygen",
    "fetch.fsckObjects=true",
    "gc.auto=0",
    "maintenance.auto=false",
)
"""Over what the clone's own config says; `protocol` leaves out ext::, git:// and http://."""
_KEPT = ("PATH", "HOME", "SSH_AUTH_SOCK", "TMPDIR")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "k3 bridge",
    "GIT_AUTHOR_EMAIL": "k3-bridge@localhost",
    "GIT_COMMITTER_NAME": "k3 bridge",
    "GIT_COMMITTER_EMAIL": "k3-bridge@localhost",
}
LOCAL_SECONDS, NETWORK_SECONDS = 120, 900


class GitError(CannotRunError):
    """Git did not do what was asked; the message is its last line."""


class RemoteError(GitError):
    """Nor did the remote: it may be gone for a while."""


_REMOTE_COMMANDS = ("fetch", "push", "ls-remote")


@dataclass(frozen=True)
class Repository:
    """A clone. Its own config counts, since it is its owner's; the system's and the user's do not."""

    root: Path

    def git(
        self, *arguments: str, given: bytes = b"", seconds: int = LOCAL_SECONDS, more: Mapping[str, str] | None = None
    ) -> bytes:
        """What `git arguments` prints. `given` is its input, `more` goes into its environment.

        Raises:
            GitError: it failed, took longer than `seconds`, or is not installed; RemoteError if a remote was asked.
        """
        failed = RemoteError if arguments[0] in _REMOTE_COMMANDS else GitError
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _ENVIRONMENT | dict(more or {})
        try:
            process = subprocess.Popen(
                ["git", "-C", str(self.root), *settings, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise GitError(f"git cannot be started ({error.strerror}): install git") from error
        try:
            out, told = process.communicate(given, timeout=seconds)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise failed(f"git {arguments[0]}: no answer in {seconds} s") from error
            raise
        if process.returncode:
            raise failed(f"git {arguments[0]}: {_last_line(told)}")
        return out

    def text(self, *arguments: str, seconds: int = LOCAL_SECONDS) -> str:
        """As `git`, decoded, without the last line's end.

        Raises:
            GitError: as `git`.
        """
        return self.git(*arguments, seconds=seconds).decode("utf-8", "replace").rstrip("\n")

    def commit(self, ref: str) -> str | None:
        """The commit that `ref` names, if there is one."""
        try:
            return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        except GitError:
            return None


def open_repository(folder: Path) -> Repository:
    """The clone that `folder` lies in.

    Raises:
        CannotRunError: it lies in none, or git is missing.
    """
    try:
        top = Repository(folder).text("rev-parse", "--show-toplevel")
    except GitError as error:
        raise CannotRunError(f"{folder}: no git checkout ({error}); run it in a clone of K3") from error
    return Repository(Path(top))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Git and what it started, ssh for one."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(told: bytes) -> str:
    lines = [line for line in told.decode("utf-8", "replace").splitlines() if line.strip()]
    meant = [line for line in lines if line.startswith(("fatal:", "error:", " ! "))] or lines
    return one_line(meant[0].strip()) if meant else "failed without a word"
