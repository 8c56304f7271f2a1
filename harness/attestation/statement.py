"""The statement that is signed: an in-toto Statement v1 about one report, and the predicate of K3's own."""

import json
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, ValidationError

from harness.attestation.errors import AttestationError
from reports.records.claims import Status
from reports.records.record import Count, Digest, Name, Record
from reports.records.verdict import Verdict
from reports.untrusted.faults import describe_invalid
from reports.untrusted.strict_json import StrictJsonError, parse

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:k3:judgement:v1"
"""Names the predicate below; docs/attest.md describes it. K3 has no address of its own to put one under."""
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SubjectDigests(Record):
    """Of the bytes of the file, and of what it says was run and measured (docs/gate.md)."""

    sha256: Hex
    content: Hex = Field(alias="k3Content")


class Subject(Record):
    """The report, by its digests; its name is for people."""

    name: Name
    digest: SubjectDigests


class SignedClaim(Record):
    """A claim as it was judged."""

    name: Name
    value: float
    status: Status


class LedgerPoint(Record):
    """The last line of the run ledger when the run ended, as the report says."""

    state: Name
    head: Digest | None = None
    entries: Count | None = None


class Judged(Record):
    """What the gate said of the report where it was signed. The time is the signer's word."""

    signed_at: AwareDatetime
    kind: Name
    verdict: Verdict
    rule_set: Count
    claims: tuple[SignedClaim, ...]
    run_ledger: LedgerPoint | None = None


class Statement(Record):
    """One report, and what was said of it."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Annotated[tuple[Subject, ...], Field(min_length=1, max_length=1)]
    predicate_type: Literal["urn:k3:judgement:v1"] = Field(alias="predicateType")
    predicate: Judged


def statement_bytes(name: str, file_digest: Digest, content: Digest, predicate: Judged) -> bytes:
    """The payload: JSON with keys in a fixed order."""
    digests = {"sha256": file_digest.removeprefix("sha256:"), "k3Content": content.removeprefix("sha256:")}
    document = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": digests}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate.model_dump(mode="json", exclude_none=True),
    }
    return json.dumps(document).encode()


def parse_statement(payload: bytes) -> Statement:
    """The statement in a payload whose signature was checked.

    Raises:
        AttestationError: it is none, of another predicate, or a field does not validate.
    """
    try:
        parse(payload)
        return Statement.model_validate_json(payload)
    except StrictJsonError as error:
        raise AttestationError(f"the signed statement: {error}") from error
    except ValidationError as error:
        raise AttestationError(f"the signed statement: {describe_invalid(error)}") from error
