"""The options that commands of the bridge share, and the clone they work in."""

from pathlib import Path
from typing import Annotated

import typer

from harness.base.provenance import version_of
from harness.bridge.git import Repository, open_repository

Remote = Annotated[str, typer.Option("--remote", help="The name of the remote that both sides reach.")]
Signers = Annotated[
    Path | None,
    typer.Option("--signers", help="An allowed-signers file of ssh-keygen: only what its keys signed counts."),
]
Key = Annotated[Path | None, typer.Option("--key", help="An SSH key to sign with; ssh-agent is asked for its secret.")]


def clone_here() -> Repository:
    """The clone of K3 that the command is called in.

    Raises:
        CannotRunError: there is none.
    """
    return open_repository(Path.cwd())


def own_version() -> str:
    """The version of this K3."""
    return version_of("k3") or "unknown"
