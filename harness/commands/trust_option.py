"""`--trust-code`, which every command has that opens a model folder."""

from typing import Annotated

import typer

from harness.base.trust import FLAG, trusting_code


def _until_the_end(context: typer.Context, given: bool) -> bool:
    """Let code of model folders run as long as the command does."""
    context.with_resource(trusting_code(given))
    return given


TrustCode = Annotated[
    bool,
    typer.Option(
        FLAG,
        callback=_until_the_end,
        help="Run what code the model folder brings. The report says so and is no evidence.",
    ),
]
