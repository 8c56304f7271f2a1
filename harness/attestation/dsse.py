"""The envelope: DSSE (Dead Simple Signing Envelope, protocol 1.0.2, secure-systems-lab/dsse).

What is signed is never parsed before its signature was checked, and what is parsed is what was signed.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from harness.attestation.errors import AttestationError
from reports.records.record import Record
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.strict_json import StrictJsonError, parse

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SUFFIX = ".dsse"
MOST_BYTES = 4 * 2**20
"""Of an envelope; one of a report with fifty claims has 15 kB."""
MOST_SIGNATURES = 16


class _Signature(Record):
    keyid: Annotated[str, Field(max_length=200)] = ""
    sig: Annotated[str, Field(max_length=1000)]


class _Envelope(Record):
    payload: Annotated[str, Field(max_length=MOST_BYTES)]
    payload_type: Annotated[str, Field(alias="payloadType", max_length=200)]
    signatures: Annotated[tuple[_Signature, ...], Field(min_length=1, max_length=MOST_SIGNATURES)]


@dataclass(frozen=True)
class Signature:
    """A signature with the name of the key that is said to have made it; empty where none is named."""

    key_id: str
    value: bytes


@dataclass(frozen=True)
class Envelope:
    """A payload of `PAYLOAD_TYPE` that nobody has vouched for yet, and its signatures."""

    payload: bytes
    signatures: tuple[Signature, ...]


def envelope_path(report: Path) -> Path:
    """Where the envelope of a report lies: beside it, under its name and `.dsse`."""
    return report.parent / f"{report.name}{SUFFIX}"


def pre_auth_encoding(payload: bytes) -> bytes:
    """What is signed: PAE(type, body) of the DSSE protocol, with lengths in bytes as ASCII decimals."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def envelope_bytes(envelope: Envelope) -> bytes:
    """The file form."""
    signatures = [{"keyid": one.key_id, "sig": base64.b64encode(one.value).decode()} for one in envelope.signatures]
    document = {
        "payload": base64.b64encode(envelope.payload).decode(), "payloadType": PAYLOAD_TYPE, "signatures": signatures
    }  # fmt: skip
    return (json.dumps(document, indent=1) + "\n").encode()


def read_envelope(path: Path) -> Envelope:
    """The envelope in a file.

    Raises:
        AttestationError: there is none, it is too large, no envelope, or of another payload type.
    """
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        raise AttestationError(f"{path.name}: {error}") from error
    return parse_envelope(data, path.name)


def parse_envelope(data: bytes, name: str) -> Envelope:
    """The envelope in the bytes of a file; `name` is for messages only.

    Raises:
        AttestationError: as for `read_envelope`.
    """
    if len(data) > MOST_BYTES:
        raise AttestationError(f"{name}: is {len(data)} bytes; the limit is {MOST_BYTES}")
    try:
        parse(data)  # refuses keys that stand twice, and depth
        found = _Envelope.model_validate_json(data)
    except StrictJsonError as error:
        raise AttestationError(f"{name}: {error}") from error
    except ValidationError as error:
        raise AttestationError(f"{name}: {describe_invalid(error)}") from error
    if found.payload_type != PAYLOAD_TYPE:
        raise AttestationError(f"{name}: payloadType: must be {PAYLOAD_TYPE}")
    signatures = tuple(Signature(one.keyid, _decoded(one.sig, f"{name}: sig")) for one in found.signatures)
    return Envelope(_decoded(found.payload, f"{name}: payload"), signatures)


def _decoded(text: str, where: str) -> bytes:
    """Base64, standard or URL-safe as the protocol has it; each value has one spelling in either."""
    standard = text.replace("-", "+").replace("_", "/")
    try:
        value = base64.b64decode(standard, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AttestationError(f"{where}: is no Base64") from error
    if base64.b64encode(value).decode() != standard:
        raise AttestationError(f"{where}: is no Base64 that an encoder makes")
    return value
