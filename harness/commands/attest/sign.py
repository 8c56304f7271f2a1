"""`k3 attest sign`: the gate judges, and what it says is signed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.clock import utc_now
from harness.base.errors import CannotRunError, OutputError
from reports.printing.say import say

if TYPE_CHECKING:
    from gate.judging.batch import JudgedEvidence
    from harness.attestation.keys import TrustedKeys


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="REPORT...", help="Reports, each beside what it rests on.")],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="Your private key, of `k3 attest keygen`.")],
) -> None:
    """Judge reports, and sign what the gate says of each.

    An envelope REPORT.dsse is written beside each.

    A report that this key has signed, and that is still what was signed, is left as it is.
    """
    from gate.judging.batch import Judge
    from harness.attestation.dsse import envelope_bytes, envelope_path
    from harness.attestation.keys import key_id, read_private_key
    from harness.attestation.signing import sign
    from reports.atomic_file import write_atomically
    from reports.retractions import RetractionsError

    private = read_private_key(key)
    own = {key_id(private.public_key()): private.public_key()}
    payloads = []
    try:
        judge = Judge([Path(os.sep)])
        for path in dict.fromkeys(paths):
            read = judge.read(path)
            if os.path.lexists(envelope_path(path)):
                _check_signed(read, own)
                say(f"signed before, and unchanged: {envelope_path(path)}")
            else:
                payloads.append((path, payload_of(read)))
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    for path, payload in payloads:
        place = envelope_path(path)
        try:
            write_atomically(envelope_bytes(sign(payload, private)), place)
        except OSError as error:
            raise OutputError(f"{place}: cannot be written ({error.strerror})") from error
        say(f"signed: {place}")


def _check_signed(read: "JudgedEvidence", own: "TrustedKeys") -> None:
    """The envelope beside a report is this key's, and holds.

    Raises:
        OutputError: it is something else, which is not overwritten.
    """
    from harness.attestation.dsse import envelope_path
    from harness.attestation.errors import AttestationError
    from harness.commands.attest.attested import attested

    try:
        attested(read, own)
    except AttestationError as error:
        place = envelope_path(read.evidence.path)
        raise OutputError(f"{place}: exists ({error}); delete it if the report is to be signed anew") from error


def payload_of(read: "JudgedEvidence") -> bytes:
    """The statement about a report, as the gate judges it here.

    Raises:
        CannotRunError: it is no report of which anything may be said.
    """
    from gate.judging.rule_set import RULE_SET
    from harness.attestation.statement import Judged, LedgerPoint, statement_bytes
    from harness.commands.attest.attested import signed_claims
    from reports.report import Report

    evidence, file, report = read.evidence, read.judged, read.evidence.outcome
    if not isinstance(report, Report) or file.verdict not in ("admissible", "withheld"):
        state = file.state if file.opened else "cannot be opened"
        raise CannotRunError(f"{evidence.path}: is {state}; nothing may be said of it, so nothing is signed")
    assert evidence.file_digest is not None
    assert evidence.digest is not None
    ledger = report.run_ledger
    point = LedgerPoint(state=ledger.state, head=ledger.head, entries=ledger.entries) if ledger is not None else None
    predicate = Judged(
        signed_at=utc_now(),
        kind=report.kind,
        verdict=file.verdict,
        rule_set=RULE_SET,
        claims=signed_claims(file),
        run_ledger=point,
    )
    return statement_bytes(evidence.path.name, evidence.file_digest, evidence.digest, predicate)
