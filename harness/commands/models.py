"""`k3 models`: which verifiers there are, getting one, and checking one against a reference."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import ModelError
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from harness.models.listing import ListedModel
    from reports.records.provenance import Faithfulness

app = typer.Typer(rich_markup_mode=None)

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command("list")
def list_command(json_output: JsonOption = False) -> None:
    """List the known models and whether they are here."""
    from harness.models.listing import list_models

    models = list_models()
    if json_output:
        print(json.dumps([model.model_dump(mode="json", exclude_none=True) for model in models], indent=1))
        return
    rows = [("name", "state", "size", "architecture", "verified", "note"), *(_row(model) for model in models)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command("fetch")
def fetch_command(name: Annotated[str, typer.Argument(help="A name of `k3 models list`.")]) -> None:
    """Download, check and convert a model once, and print its folder."""
    from harness.fetching.fetch import ensure

    print(ensure(name).folder)


@app.command("verify")
def verify_command(
    name: Annotated[str, typer.Argument(help="A known name, a model folder, ${ENV:VARIABLE} or a hub id.")],
    json_output: JsonOption = False,
) -> None:
    """Compare the logits of a model with those of transformers on a fixed text, and record the result.

    Both compute in float32, transformers over the same weights, dequantised where mlx-lm's are quantised. A model that
    runs in another type is compared in that type too, on the start of the text.
    """
    from gate.rulebook.thresholds import MAX_LOGIT_GAP, MIN_ARGMAX_AGREEMENT, MIN_RUN_AGREEMENT
    from harness.base.progress import bar
    from harness.checks.verify_model import verify
    from harness.models.resolve import resolve

    with bar(f"Verifying {one_line(name)}") as progress:
        progress(0, 1, "looking it up")
        model = resolve(name)
        result = verify(model.folder, progress)
    if json_output:
        print(
            json.dumps(
                {"id": model.id, "weights": model.weights} | result.model_dump(mode="json", exclude_none=True), indent=1
            )
        )
    else:
        print(
            f"{model.id}: {_figures(result)} over {result.tokens} tokens, against {result.reference}{_as_run(result)}"
        )
    if result.argmax_agreement < MIN_ARGMAX_AGREEMENT.value or result.largest_logit_gap > MAX_LOGIT_GAP.value:
        raise ModelError(
            f"{model.id}: mlx-lm does not run the model that transformers runs ({_figures(result)}; "
            f"needed {MIN_ARGMAX_AGREEMENT.value:.1%} and at most {MAX_LOGIT_GAP.value:g}): compare its config.json, "
            "RoPE first"
        )
    if result.as_run is not None and result.as_run.argmax_agreement < MIN_RUN_AGREEMENT.value:
        raise ModelError(
            f"{model.id}: in {result.as_run.dtype}, as it runs here, it is another model (argmax agreement "
            f"{result.as_run.argmax_agreement:.1%}, needed {MIN_RUN_AGREEMENT.value:.0%}): "
            "mlx_lm.convert --dtype float32"
        )


def _row(model: "ListedModel") -> tuple[str, ...]:
    size = "-" if model.size is None else f"{model.size / 1e6:.0f} MB"
    verified = "-" if model.faithfulness is None else _figures(model.faithfulness) + _as_run(model.faithfulness)
    state = "present" if model.present else "absent"
    return (model.name, state, size, model.architecture or "-", verified, model.problem or "")


def _figures(result: "Faithfulness") -> str:
    return f"argmax agreement {result.argmax_agreement:.2%}, largest logit gap {result.largest_logit_gap:.2g}"


def _as_run(result: "Faithfulness") -> str:
    run = result.as_run
    return "" if run is None else f"; in {run.dtype}, as it runs, {run.argmax_agreement:.1%} of {run.tokens} tokens"
