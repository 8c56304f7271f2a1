"""`k3 attest verify`: who signed what of which report."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError
from harness.commands.run.options import Json
from reports.printing.say import say
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.batch import Judge, JudgedEvidence
    from harness.attestation.keys import TrustedKeys


@dataclass(frozen=True)
class Outcome:
    """A report, and who signed it; or why nobody did who counts."""

    path: str
    key: str | None
    told: str


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="REPORT...", help="Reports, each with its .dsse beside it.")],
    keys: Annotated[Path, typer.Option("--keys", metavar="FILE", help="The public keys that you trust, in PEM.")],
    json_output: Json = False,
) -> None:
    """Check the envelopes beside reports.

    Signature, file, and that this gate says the same. Exit 2 if one fails.
    """
    from gate.judging.batch import Judge
    from harness.attestation.keys import read_trusted_keys
    from reports.retractions import RetractionsError

    trusted = read_trusted_keys(keys)
    try:
        judge = Judge()
        outcomes = [_outcome(_read(judge, path), trusted) for path in paths]
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    if json_output:
        print(json.dumps([asdict(one) for one in outcomes], indent=1))
    for one in outcomes if not json_output else ():
        say(f"{one.path}: {one.told}")
    raise typer.Exit(0 if all(one.key is not None for one in outcomes) else 2)


def _read(judge: "Judge", path: Path) -> "JudgedEvidence":
    """The file, judged. Raises CannotRunError: it is not there, or cannot be opened."""
    read = judge.read(path)
    if not read.judged.opened:
        raise CannotRunError(f"{path}: {read.judged.reason}")
    return read


def _outcome(read: "JudgedEvidence", trusted: "TrustedKeys") -> Outcome:
    from harness.attestation.errors import AttestationError
    from harness.commands.attest.attested import attested

    path = str(read.evidence.path)
    try:
        found = attested(read, trusted)
    except AttestationError as error:
        return Outcome(path, None, one_line(f"NOT ATTESTED: {error}", 1000))
    signed = found.statement.predicate
    admitted = sum(claim.status == "admitted" for claim in signed.claims)
    older = "; judged again by this gate's newer one, the same" if found.older_rules is not None else ""
    told = f"signed by {found.key_id} as {signed.verdict}, {admitted} of {len(signed.claims)} claims admitted"
    return Outcome(path, found.key_id, f"{told}, by rule set {signed.rule_set}{older}")
