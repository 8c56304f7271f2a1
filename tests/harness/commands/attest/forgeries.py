"""Forged attestations: an honest report and envelope, changed in one of the ways that somebody might try.

`python -m tests.harness.commands.attest.forgeries --cases 2000` is the campaign; the tests run a small one.
"""

import argparse
import base64
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate.judging.batch import Judge
from gate.judging.rule_set import RULE_SET
from harness.attestation.dsse import Envelope, Signature, envelope_bytes, envelope_path, parse_envelope
from harness.attestation.errors import AttestationError
from harness.attestation.keys import TrustedKeys, key_id
from harness.attestation.signing import sign
from harness.commands.attest.attested import attested
from harness.commands.attest.sign import payload_of
from reports.report import report_bytes
from tests.gate.honest import Setup, honest_parity

Document = dict[str, Any]


@dataclass
class Files:
    """A report and its envelope as bytes; a forgery changes either. `key` is the signer's, `rng` chooses."""

    report: bytes
    envelope: bytes
    key: Ed25519PrivateKey
    rng: random.Random

    @property
    def document(self) -> Document:
        """The envelope, parsed."""
        found: Document = json.loads(self.envelope)
        return found

    @property
    def statement(self) -> Document:
        """The statement in it."""
        found: Document = json.loads(base64.b64decode(self.document["payload"]))
        return found

    def with_statement(self, statement: Document) -> None:
        """Put another statement under the same signature."""
        payload = base64.b64encode(json.dumps(statement).encode()).decode()
        self.envelope = json.dumps(self.document | {"payload": payload}).encode()

    def signed_again(self, statement: Document | bytes, key: Ed25519PrivateKey | None = None) -> None:
        """Sign a statement with a key, the signer's own if none is given."""
        payload = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
        self.envelope = envelope_bytes(sign(payload, key or self.key))


def flip_a_bit_of_the_report(files: Files) -> None:
    data = bytearray(files.report)
    data[files.rng.randrange(len(data))] ^= 1 << files.rng.randrange(8)
    files.report = bytes(data)


def add_white_space_to_the_report(files: Files) -> None:
    files.report += b"\n" * files.rng.randint(1, 9)


def change_a_figure(files: Files) -> None:
    places = [place for place, byte in enumerate(files.report) if byte in b"123456789"]
    place = files.rng.choice(places)
    files.report = files.report[:place] + b"0" + files.report[place + 1 :]


def flip_a_bit_of_the_payload(files: Files) -> None:
    payload = bytearray(base64.b64decode(files.document["payload"]))
    payload[files.rng.randrange(len(payload))] ^= 1 << files.rng.randrange(8)
    files.envelope = json.dumps(files.document | {"payload": base64.b64encode(payload).decode()}).encode()


def flip_a_bit_of_the_signature(files: Files) -> None:
    document = files.document
    value = bytearray(base64.b64decode(document["signatures"][0]["sig"]))
    value[files.rng.randrange(len(value))] ^= 1 << files.rng.randrange(8)
    document["signatures"][0]["sig"] = base64.b64encode(value).decode()
    files.envelope = json.dumps(document).encode()


def change_a_byte_of_the_envelope(files: Files) -> None:
    """Of its texts, since white space between them says nothing."""
    texts = [place for place, byte in enumerate(files.envelope) if chr(byte).isalnum()]
    place = files.rng.choice(texts)
    other = files.rng.choice([byte for byte in b"Ax9~" if byte != files.envelope[place]])
    files.envelope = files.envelope[:place] + bytes([other]) + files.envelope[place + 1 :]


def cut_the_envelope_short(files: Files) -> None:
    files.envelope = files.envelope[: files.rng.randrange(len(files.envelope.rstrip()))]


def another_verdict(files: Files) -> None:
    statement = files.statement
    statement["predicate"]["verdict"] = files.rng.choice(["withheld", "invalid", "best"])
    files.with_statement(statement)


def another_claim(files: Files) -> None:
    statement = files.statement
    statement["predicate"]["claims"][0]["value"] += files.rng.random() + 1e-9
    files.with_statement(statement)


def another_ledger(files: Files) -> None:
    statement = files.statement
    statement["predicate"]["run_ledger"] = {"state": "recorded", "head": f"sha256:{files.rng.randbytes(32).hex()}"}
    files.with_statement(statement)


def another_signer(files: Files) -> None:
    files.signed_again(files.statement, Ed25519PrivateKey.generate())


def another_signer_under_the_name_of_the_first(files: Files) -> None:
    other = parse_envelope(
        envelope_bytes(sign(json.dumps(files.statement).encode(), Ed25519PrivateKey.generate())), "x"
    )
    forged = Signature(key_id(files.key.public_key()), other.signatures[0].value)
    files.envelope = envelope_bytes(Envelope(other.payload, (forged,)))


def many_signers_and_none_who_is_trusted(files: Files) -> None:
    payload = json.dumps(files.statement).encode()
    made = [sign(payload, Ed25519PrivateKey.generate()).signatures[0] for _ in range(files.rng.randint(2, 16))]
    nameless = [Signature("", one.value) if files.rng.random() < 0.5 else one for one in made]
    files.envelope = envelope_bytes(Envelope(payload, tuple(nameless)))


def no_signature(files: Files) -> None:
    signatures: list[Document] = files.rng.choice([[], [{"keyid": key_id(files.key.public_key()), "sig": ""}]])
    files.envelope = json.dumps(files.document | {"signatures": signatures}).encode()


def another_payload_type(files: Files) -> None:
    kind = files.rng.choice(["application/json", "application/vnd.in-toto", "", "APPLICATION/VND.IN-TOTO+JSON"])
    files.envelope = json.dumps(files.document | {"payloadType": kind}).encode()


def signed_without_its_type(files: Files) -> None:
    """The signature of the bare payload, and of one of another type: what PAE keeps apart."""
    payload = base64.b64decode(files.document["payload"])
    bare = files.rng.choice([payload, b"DSSEv1 16 application/json %d %b" % (len(payload), payload)])
    forged = Signature(key_id(files.key.public_key()), files.key.sign(bare))
    files.envelope = envelope_bytes(Envelope(payload, (forged,)))


def a_key_twice_in_the_envelope(files: Files) -> None:
    other = base64.b64encode(files.rng.randbytes(30))
    doubled = files.rng.choice([b'"payload": "%b", "payloadType"' % other, b'"payloadType": "x", "payloadType"'])
    files.envelope = files.envelope.replace(b'"payloadType"', doubled)


def a_key_twice_in_the_statement(files: Files) -> None:
    payload = json.dumps(files.statement).replace('"verdict"', '"verdict": "withheld", "verdict"')
    files.signed_again(payload.encode())


def signed_of_another_report(files: Files) -> None:
    statement = files.statement
    place = files.rng.choice(["sha256", "k3Content"])
    statement["subject"][0]["digest"][place] = files.rng.randbytes(32).hex()
    files.signed_again(statement)


def signed_of_two_reports(files: Files) -> None:
    statement = files.statement
    statement["subject"] *= 2
    files.signed_again(statement)


def signed_by_older_rules_that_said_more(files: Files) -> None:
    """A downgrade: rules of old admitted what these do not."""
    statement = files.statement
    statement["predicate"]["rule_set"] = files.rng.randrange(RULE_SET)
    claim = files.rng.choice(statement["predicate"]["claims"])
    claim["status"] = "withheld" if claim["status"] == "admitted" else "admitted"
    files.signed_again(statement)


def signed_by_rules_to_come(files: Files) -> None:
    statement = files.statement
    statement["predicate"]["rule_set"] = RULE_SET + files.rng.randint(1, 99)
    files.signed_again(statement)


def signed_with_fewer_claims(files: Files) -> None:
    statement = files.statement
    statement["predicate"]["claims"].pop()
    files.signed_again(statement)


def signed_as_another_kind_of_statement(files: Files) -> None:
    statement = files.statement
    field, other = files.rng.choice(
        [("_type", "https://in-toto.io/Statement/v0.1"), ("predicateType", "https://slsa.dev/provenance/v1")]
    )
    files.signed_again(statement | {field: other})


FORGERIES: tuple[Callable[[Files], None], ...] = (
    flip_a_bit_of_the_report,
    add_white_space_to_the_report,
    change_a_figure,
    flip_a_bit_of_the_payload,
    flip_a_bit_of_the_signature,
    change_a_byte_of_the_envelope,
    cut_the_envelope_short,
    another_verdict,
    another_claim,
    another_ledger,
    another_signer,
    another_signer_under_the_name_of_the_first,
    many_signers_and_none_who_is_trusted,
    no_signature,
    another_payload_type,
    signed_without_its_type,
    a_key_twice_in_the_envelope,
    a_key_twice_in_the_statement,
    signed_of_another_report,
    signed_of_two_reports,
    signed_by_older_rules_that_said_more,
    signed_by_rules_to_come,
    signed_with_fewer_claims,
    signed_as_another_kind_of_statement,
)


class Desk:
    """Where files are checked: a folder, one honest report with its envelope, and the key that is trusted."""

    def __init__(self, folder: Path) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.trusted: TrustedKeys = {key_id(self.key.public_key()): self.key.public_key()}
        self.path = folder / "run.json"
        self.report = report_bytes(honest_parity(Setup(samples=5)))
        self.path.write_bytes(self.report)
        self.envelope = envelope_bytes(sign(payload_of(Judge().read(self.path)), self.key))

    def files(self, rng: random.Random) -> Files:
        """The honest ones."""
        return Files(self.report, self.envelope, self.key, rng)

    def refusal(self, files: Files) -> str | None:
        """Why they are refused; none if they are not."""
        self.path.write_bytes(files.report)
        envelope_path(self.path).write_bytes(files.envelope)
        try:
            attested(Judge().read(self.path), self.trusted)
        except AttestationError as error:
            return str(error)
        return None


def campaign(folder: Path, cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many forgeries of each way were refused, and the ways of those that were not."""
    desk, rng = Desk(folder), random.Random(seed)
    refused: Counter[str] = Counter()
    passed = []
    for number in range(cases):
        forge = FORGERIES[number % len(FORGERIES)]
        files = desk.files(rng)
        forge(files)
        if desk.refusal(files) is None:
            passed.append(f"case {number}: {forge.__name__}")
        refused[forge.__name__] += 1
    return refused, passed


def main() -> None:
    """Run the campaign; the exit code is 1 if one forgery passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tried, passed = campaign(Path(folder), arguments.cases, arguments.seed)
    for name, count in sorted(tried.items()):
        print(f"{count:5} {name}")
    print(f"{sum(tried.values())} forgeries, {len(passed)} of them passed", *passed, sep="\n")
    raise SystemExit(bool(passed))


if __name__ == "__main__":
    main()
