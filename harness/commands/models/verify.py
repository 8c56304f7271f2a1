"""`k3 models verify`: a model checked against a reference."""

import json
from typing import Annotated

import typer

from harness.base.errors import ModelError
from harness.commands.models.printing import Json, as_run, figures
from harness.commands.trust_option import TrustCode
from reports.printing.say import say
from reports.untrusted.one_line import one_line


def command(
    name: Annotated[str, typer.Argument(help="A known name, a model folder, ${ENV:VARIABLE} or a hub id.")],
    json_output: Json = False,
    trust_code: TrustCode = False,
) -> None:
    """Compare a model's logits with those of transformers.

    On a fixed text; the result is recorded.

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
        say(f"{model.id}: {figures(result)} over {result.tokens} tokens, against {result.reference}{as_run(result)}")
    if result.argmax_agreement < MIN_ARGMAX_AGREEMENT.value or result.largest_logit_gap > MAX_LOGIT_GAP.value:
        raise ModelError(
            f"{model.id}: mlx-lm does not run the model that transformers runs ({figures(result)}; "
            f"needed {MIN_ARGMAX_AGREEMENT.value:.1%} and at most {MAX_LOGIT_GAP.value:g}): compare its config.json, "
            "RoPE first"
        )
    if result.as_run is not None and result.as_run.argmax_agreement < MIN_RUN_AGREEMENT.value:
        raise ModelError(
            f"{model.id}: in {result.as_run.dtype}, as it runs here, it is another model (argmax agreement "
            f"{result.as_run.argmax_agreement:.1%}, needed {MIN_RUN_AGREEMENT.value:.0%}): "
            "mlx_lm.convert --dtype float32"
        )
