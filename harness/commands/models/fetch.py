"""`k3 models fetch`: get a model."""

from typing import Annotated

import typer


def command(name: Annotated[str, typer.Argument(help="A name of `k3 models list`.")]) -> None:
    """Download, check and convert a model once, and print its folder."""
    from harness.fetching.fetch import ensure

    print(ensure(name).folder)
