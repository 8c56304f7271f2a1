"""`k3 attest keygen`: a key to sign with."""

from pathlib import Path
from typing import Annotated

import typer

from reports.printing.say import say


def command(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The private key; FILE.pub is the public one.")],
) -> None:
    """Write a new Ed25519 key pair, and print the key's id.

    Only you may read the private key; the public one lies beside it.
    """
    from harness.attestation.keys import PUBLIC_SUFFIX, make_key

    made = make_key(out)
    say(f"key {made}")
    say(f"private: {out} (keep it; who has it signs as you)")
    say(f"public: {out}{PUBLIC_SUFFIX} (give it to whoever checks)")
