"""`k3 attest keygen`: a key to sign with."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The private key; FILE.pub is the public one.")],
) -> None:
    """Write a new Ed25519 key pair, and print the key's id.

    Only you may read the private key; the public one lies beside it.
    """
    from harness.attestation.keys import PUBLIC_SUFFIX, make_key

    made = make_key(out)
    print(f"key {made}")
    print(f"private: {out} (keep it; who has it signs as you)")
    print(f"public: {out}{PUBLIC_SUFFIX} (give it to whoever checks)")
