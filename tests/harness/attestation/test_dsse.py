"""The envelope as the DSSE protocol has it, and what is no envelope."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from harness.attestation.dsse import (
    MOST_BYTES,
    PAYLOAD_TYPE,
    Envelope,
    Signature,
    envelope_bytes,
    envelope_path,
    parse_envelope,
    pre_auth_encoding,
    read_envelope,
)
from harness.attestation.errors import AttestationError

ENVELOPE = Envelope(b'{"a": "\xc3\xa9"}', (Signature("key", b"\x00\xff" * 32),))


def document(**changes: Any) -> bytes:
    return json.dumps(json.loads(envelope_bytes(ENVELOPE)) | changes).encode()


def refused(data: bytes) -> str:
    with pytest.raises(AttestationError) as caught:
        parse_envelope(data, "x.json.dsse")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_signed_names_type_and_length_of_both() -> None:
    kind = b"application/vnd.in-toto+json"
    assert pre_auth_encoding(b"hello world") == b"DSSEv1 28 " + kind + b" 11 hello world"
    assert pre_auth_encoding("é".encode()) == b"DSSEv1 28 " + kind + b" 2 \xc3\xa9"
    assert pre_auth_encoding(b"") == b"DSSEv1 28 " + kind + b" 0 "


def test_an_envelope_is_read_as_it_was_written() -> None:
    assert parse_envelope(envelope_bytes(ENVELOPE), "x") == ENVELOPE
    assert envelope_path(Path("a/run.json")) == Path("a/run.json.dsse")


def test_url_safe_base64_is_the_same_envelope() -> None:
    safe = base64.urlsafe_b64encode(ENVELOPE.signatures[0].value).decode()
    assert "_" in safe
    assert parse_envelope(document(signatures=[{"keyid": "key", "sig": safe}]), "x") == ENVELOPE


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"payloadType": "text/plain"}, f"payloadType: must be {PAYLOAD_TYPE}"),
        ({"payload": "%%%%"}, "payload: is no Base64"),
        ({"payload": "QQ"}, "payload: is no Base64"),
        ({"payload": "QR=="}, "is no Base64 that an encoder makes"),
        ({"payload": "Q Q=="}, "is no Base64"),
        ({"payload": "é"}, "is no Base64"),
        ({"payload": 3}, "payload: must be text"),
        ({"signatures": []}, "signatures: "),
        ({"signatures": [{"sig": "QQ=="}] * 17}, "signatures: "),
        ({"signatures": [{"sig": "QQ==", "more": 1}]}, "more: is no key here"),
        ({"more": 1}, "more: is no key here"),
    ],
)
def test_what_is_no_envelope(changes: dict[str, Any], told: str) -> None:
    assert told in refused(document(**changes))


def test_a_key_that_stands_twice_is_refused() -> None:
    twice = envelope_bytes(ENVELOPE).replace(b'"payloadType"', b'"payload": "QQ==",\n "payloadType"')
    assert "payload" in refused(twice)
    assert refused(b"") == "x.json.dsse: not JSON: the file is empty"


def test_a_large_envelope_is_refused_unread(tmp_path: Path) -> None:
    assert f"the limit is {MOST_BYTES}" in refused(b" " * (MOST_BYTES + 1))
    path = tmp_path / "x.json.dsse"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(AttestationError, match="is 104857600 bytes or more"):
        read_envelope(path)
    with pytest.raises(AttestationError, match="cannot be read: No such file"):
        read_envelope(tmp_path / "gone.dsse")
