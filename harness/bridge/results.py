"""What an executor writes on a request's branch: that it took the request, and what came of it."""

from typing import Annotated, Literal

from pydantic import Field, ValidationError

from harness.bridge.git import Repository
from harness.bridge.manifest import RequestError
from harness.bridge.names import COMMIT, NONCE, PRESET
from harness.bridge.trees import FILE, entry_at, read_blob, size_of
from reports.records.provenance import Host
from reports.records.record import Bytes, Count, Digest, Name, Record
from reports.records.verdict import Verdict
from reports.untrusted.faults import describe_invalid
from reports.untrusted.strict_json import StrictJsonError, parse

CLAIM, RESULT_FOLDER = ".k3-bridge/claim.json", ".k3-bridge/result/"
RESULT, LOG = "result.json", "log.txt"
RESULT_LIMIT = 2**20
Outcome = Literal["finished", "failed", "timed_out", "interrupted", "refused"]
Commit = Annotated[str, Field(pattern=rf"^{COMMIT}$")]


class Claim(Record):
    """An executor runs the request. `token` is its own, so that two that claim at once make different commits."""

    schema_version: Literal[1] = 1
    token: Annotated[str, Field(pattern=rf"^{NONCE}$")]
    host: Host
    k3_version: Name


class ReturnedFile(Record):
    """A file beside the result, and what the executor's gate said if it is a report."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}\.(json|txt)$")]
    bytes: Bytes
    digest: Digest
    verdict: Verdict | None = None
    codes: tuple[Name, ...] = Field((), max_length=500)


class Result(Record):
    """The answer to a request. `outcome` says how the command ended; what may be said of its reports is `verdict`."""

    schema_version: Literal[1] = 1
    nonce: Annotated[str, Field(pattern=rf"^{NONCE}$")]
    preset: Annotated[str, Field(pattern=rf"^{PRESET}$")]
    request: Commit = Field(description="The commit that asked")
    base: Commit | None = Field(None, description="The commit whose code ran; none where the request was refused")
    preset_digest: Digest | None = None
    outcome: Outcome
    reason: str | None = Field(None, max_length=1000, description="Of everything but `finished`")
    exit_code: int | None = Field(None, ge=-64, le=255)
    attempts: Count = Field(0, description="How often the command was started; more than once after a kill or a reboot")
    environment: Literal["isolated", "running"] | None = Field(
        None, description="Packages by the commit's pins, or those of the executor; none where nothing was started"
    )
    host: Host
    k3_version: Name = Field(description="Of the executor")
    rule_set: Count = Field(description="Of the executor's gate")
    files: tuple[ReturnedFile, ...] = Field((), max_length=64)


def read_result(repository: Repository, commit: str) -> Result:
    """The result that a commit carries.

    Raises:
        RequestError: it carries none, or one that is too large or out of shape.
    """
    path = RESULT_FOLDER + RESULT
    entry = entry_at(repository, commit, path)
    if entry is None or entry.mode != FILE:
        raise RequestError(f"{path}: the answer has no such file")
    if size_of(repository, entry.blob) > RESULT_LIMIT:
        raise RequestError(f"{path}: over {RESULT_LIMIT} bytes")
    try:
        data = read_blob(repository, entry.blob)
        parse(data)
        return Result.model_validate_json(data)
    except StrictJsonError as error:
        raise RequestError(f"{path}: {error}") from error
    except ValidationError as error:
        raise RequestError(f"{path}: {describe_invalid(error)}") from error


def record_bytes(record: Record) -> bytes:
    """A record as it is committed."""
    return (record.model_dump_json(indent=1, exclude_none=True) + "\n").encode()
