"""The one request an executor works on, on disk before every step, so that the next start knows how far it came."""

import shutil
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from harness.base.errors import CannotRunError
from harness.bridge.git import Repository
from harness.bridge.manifest import Request
from harness.bridge.names import NONCE, PRESET, RequestName
from harness.bridge.results import Commit
from reports.atomic_file import write_atomically
from reports.records.record import Count, Record
from reports.untrusted.files import RefusedFileError, read_bounded


class Job(Record):
    """A request that was taken, or refused (`reason`). `result` is the commit that answers, once there is one."""

    preset: Annotated[str, Field(pattern=rf"^{PRESET}$")]
    nonce: Annotated[str, Field(pattern=rf"^{NONCE}$")]
    commit: Commit = Field(description="The request's")
    request: Request | None = None
    claim: Commit | None = None
    reason: str | None = None
    attempts: Count = 0
    result: Commit | None = None

    @property
    def name(self) -> RequestName:
        """The request's name."""
        return RequestName(self.preset, self.nonce)

    @property
    def stands_on(self) -> str:
        """The commit that an answer goes on top of."""
        return self.claim or self.commit


class Desk:
    """The folder of an executor in its clone's .git: a lock, the job, and what the job's command writes."""

    def __init__(self, repository: Repository) -> None:
        """Make the folder.

        Raises:
            OSError: the clone cannot be written.
        """
        git_folder = repository.text("rev-parse", "--path-format=absolute", "--git-common-dir")
        self.folder = Path(git_folder) / "k3-bridge"
        self.folder.mkdir(exist_ok=True)
        self.lock = self.folder / "lock"
        self._job = self.folder / "job.json"
        self.work = self.folder / "work"
        self.tree, self.out, self.log = self.work / "tree", self.work / "out", self.work / "log.txt"
        self.group = self.work / "group"
        self.environments = self.folder / "environments"

    def begun(self) -> Job | None:
        """The job that an earlier start left, if it did.

        Raises:
            CannotRunError: it cannot be read.
        """
        for left in self.folder.glob(".job.json.*.tmp"):
            left.unlink()
        if not self._job.exists():
            self._clear()
            return None
        try:
            return Job.model_validate_json(read_bounded(self._job))
        except (RefusedFileError, ValidationError) as error:
            raise CannotRunError(f"{self._job}: cannot be read: delete it to leave its request unanswered") from error

    def keep(self, job: Job) -> Job:
        """Write the job down; it is on disk when this returns."""
        write_atomically((job.model_dump_json(exclude_none=True) + "\n").encode(), self._job)
        return job

    def done(self) -> None:
        """Forget the job, and delete what it wrote."""
        self._clear()
        self._job.unlink(missing_ok=True)

    def _clear(self) -> None:
        if self.work.exists():
            shutil.rmtree(self.work)
