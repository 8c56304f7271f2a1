"""The packages that a commit's code runs with: an environment made by the commit's own pins, or the executor's."""

import os
import shutil
import sys
from typing import Literal

from harness.base.processes.guarded import Command, Ended, end_left_over, run_guarded
from harness.bridge.execution.job import Desk
from harness.bridge.manifest import RequestError
from harness.bridge.task import Task
from reports.records.record import digest_of
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.toml import TomlError, parse_toml

Kind = Literal["isolated", "running"]
KINDS: tuple[Kind, ...] = ("isolated", "running")
PROJECT, PINS = "pyproject.toml", "constraints.txt"
EXTRAS = ("run", "serve", "page")
_OF_THE_INDEX = ("PIP_", "UV_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
"""What an installer may need of the owner's environment to reach an index; the run itself sees none of it."""


class Isolated:
    """An environment of a commit's extras, in the versions that its constraints pin. Kept for the next request of the
    same pins; those of others are deleted, since each takes half a gigabyte or more."""

    def __init__(self, desk: Desk, task: Task) -> None:
        """Look up what is to be installed.

        Raises:
            RequestError: the commit has no project file or no constraints, or they are no such files.
        """
        self._desk = desk
        torch = ("torch",) if "torch" in task.packages() else ()
        self._wanted = [f".[{','.join((*EXTRAS, *torch))}]", *(self._tests() if task.runs_tests() else ())]
        parts = [self._read(PROJECT), self._read(PINS), repr((self._wanted, sys.version)).encode()]
        self.folder = desk.environments / digest_of(b"\0".join(parts))[7:23]
        self.python = str(self.folder / "bin" / "python")
        self._whole = self.folder / "k3-whole"

    def build(self, environment: dict[str, str], seconds: float) -> Ended | None:
        """Make it if it is not there; the log goes to that of the run. None if a guard was killed."""
        if self._whole.exists():
            return Ended(0, timed_out=False)
        shutil.rmtree(self._desk.environments, ignore_errors=True)
        self.folder.mkdir(parents=True)
        index = {name: value for name, value in os.environ.items() if name.startswith(_OF_THE_INDEX)}
        for argv in self._commands():
            end_left_over(self._desk.group, self.folder)
            ended = run_guarded(
                Command(argv, self._desk.tree, environment | index, self._desk.log, self._desk.group, seconds)
            )
            end_left_over(self._desk.group, self.folder)
            if ended is None or ended.exit_code:
                return ended
        self._whole.touch()
        return Ended(0, timed_out=False)

    def _commands(self) -> list[tuple[str, ...]]:
        """By uv where it is installed, else by venv and pip."""
        uv, pins = shutil.which("uv"), ("-c", PINS)
        if uv is not None:
            return [
                (uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(self.folder)),
                (uv, "pip", "install", "--quiet", "--python", self.python, *pins, *self._wanted),
            ]
        quiet = ("--quiet", "--disable-pip-version-check")
        return [
            (sys.executable, "-m", "venv", str(self.folder)),
            (self.python, "-m", "pip", "install", *quiet, *pins, *self._wanted),
        ]

    def _read(self, name: str) -> bytes:
        try:
            return read_bounded(self._desk.tree / name)
        except RefusedFileError as error:
            raise RequestError(f"{name}: {error}: an isolated environment is made of the commit's own") from error

    def _tests(self) -> list[str]:
        """What the commit's group `test` names."""
        try:
            found = parse_toml(self._read(PROJECT))["dependency-groups"]["test"]
        except (TomlError, KeyError, TypeError) as error:
            raise RequestError(f"{PROJECT}: has no dependency group `test`") from error
        if not isinstance(found, list) or not all(isinstance(one, str) and one[:1].isalnum() for one in found):
            raise RequestError(f"{PROJECT}: dependency-groups.test: is no list of packages")
        return found
