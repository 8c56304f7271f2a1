"""A judged report beside the statement that was signed of it: by whom, and whether it still holds."""

from dataclasses import dataclass, replace

from gate.judging.batch import JudgedEvidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import RULE_SET
from gate.rules.files.refused import NOT_ATTESTED
from harness.attestation.dsse import envelope_path, read_envelope
from harness.attestation.errors import AttestationError
from harness.attestation.keys import TrustedKeys
from harness.attestation.signing import signer_of
from harness.attestation.statement import Judged, SignedClaim, Statement, parse_statement
from reports.records.verdict import Violation
from reports.report import Report
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line


@dataclass(frozen=True)
class Attested:
    """A statement that a trusted key signed, and that holds of the report beside it."""

    key_id: str
    statement: Statement

    @property
    def older_rules(self) -> int | None:
        """The rule set that the signer judged by, if it is not this gate's."""
        rule_set = self.statement.predicate.rule_set
        return rule_set if rule_set != RULE_SET else None


def attested(read: JudgedEvidence, trusted: TrustedKeys) -> Attested:
    """The attestation of a report that was read and judged here.

    Raises:
        AttestationError: there is none, it is forged or of another file, nobody who is trusted signed it, or this gate
            says something else of the report.
    """
    envelope = read_envelope(envelope_path(read.evidence.path))
    signer = signer_of(envelope, trusted)
    statement = parse_statement(envelope.payload)
    digests = statement.subject[0].digest
    if f"sha256:{digests.sha256}" != read.evidence.file_digest:
        raise AttestationError("the file is not the one that was signed: one byte of it, or all, was changed")
    if f"sha256:{digests.content}" != read.evidence.digest:
        raise AttestationError("the report's digest is not the one that was signed")
    _compare(statement.predicate, read.judged)
    return Attested(signer, statement)


def barred_unless_attested(read: JudgedEvidence, trusted: TrustedKeys) -> JudgedFile:
    """The judged file; of a report that is not attested nothing may be said. What is no report needs no attestation."""
    if not isinstance(read.evidence.outcome, Report):
        return read.judged
    try:
        found = attested(read, trusted)
    except AttestationError as error:
        message = one_line(f"not attested: {error}", 1000)
        return read.judged.barred(Violation(code=NOT_ATTESTED.code, message=message))
    if found.older_rules is None:
        return read.judged
    return replace(
        read.judged, reason=f"signed by rule set {found.older_rules}; by this one, {RULE_SET}, it is the same"
    )


def signed_claims(file: JudgedFile) -> tuple[SignedClaim, ...]:
    """The claims of a judged file as they are signed."""
    return tuple(SignedClaim(name=claim.name, value=claim.value, status=claim.status) for claim in file.claims)


def _compare(signed: Judged, file: JudgedFile) -> None:
    """The signer's gate and this one say the same, whichever rules either has."""
    by = f"rule set {signed.rule_set}"
    if signed.rule_set > RULE_SET:
        raise AttestationError(f"signed by the newer {by}; this gate has {RULE_SET}: upgrade K3")
    older = "" if signed.rule_set == RULE_SET else f", an older one; by this gate's, {RULE_SET},"
    if signed.verdict != file.verdict:
        raise AttestationError(f"signed as {signed.verdict} by {by}{older} it is {file.verdict}")
    for theirs, ours in zip(signed.claims, signed_claims(file), strict=False):
        if theirs != ours:
            raise AttestationError(f"{theirs.name} was signed as {theirs.status} by {by}{older} it is {ours.status}")
    if len(signed.claims) != len(file.claims):
        raise AttestationError(
            f"signed for {number_of(len(signed.claims), 'claim')}, the report has {len(file.claims)}"
        )
