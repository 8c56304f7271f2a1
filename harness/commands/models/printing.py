"""What `k3 models` prints of a comparison with a reference, and the option that its commands share."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reports.records.provenance import Faithfulness

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def figures(result: "Faithfulness") -> str:
    """How well the logits agree."""
    return f"argmax agreement {result.argmax_agreement:.2%}, largest logit gap {result.largest_logit_gap:.2g}"


def as_run(result: "Faithfulness") -> str:
    """The same in the type that the model runs in, after a semicolon; empty where that is the reference's."""
    run = result.as_run
    return "" if run is None else f"; in {run.dtype}, as it runs, {run.argmax_agreement:.1%} of {run.tokens} tokens"
