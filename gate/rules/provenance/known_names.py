"""Whether a model goes by its own name: weights that K3 knows have one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.rule import Example, Finding
from reports.known_models import KNOWN_RECIPES, KNOWN_WEIGHTS

if TYPE_CHECKING:
    from gate.rulebook.report_view import ReportView


@evidence_rule(
    "MODEL_MISNAMED",
    title="Known weights under another name",
    catches="A model whose weights have the digest of one that K3 knows, and that the report calls something else, or "
    "says to have been trained on something else.",
    why="A report named its verifier `llama-70b`; its weights were those of SmolLM2-135M, and it was admitted.",
    fix="Run with `--model NAME`, as `k3 models list` has it, and not with a renamed copy of its folder.",
    severity="withheld",
    since=4,
    example=Example(bad="`llama-70b` with the weights of smollm2-135m", good="`smollm2-135m` with its own weights"),
)
def model_misnamed(view: ReportView) -> Iterator[Finding]:
    """A model is called something else than its weights are known as."""
    models = view.report.provenance.models if view.report.provenance is not None else ()
    for model in models:
        known = KNOWN_WEIGHTS.get(model.weights or "")
        if known is not None and model.id != known:
            message = f"provenance.models: {model.role} {model.id} has the weights of {known}"
            yield Finding(message, field="provenance.models.id", found=model.id, allowed=known)
        recipe = KNOWN_RECIPES.get(KNOWN_WEIGHTS.get(model.weights or "", ""))
        if recipe is not None and model.recipe is not None and model.recipe.digest != recipe:
            found, allowed = model.recipe.digest[:23], recipe[:23]
            message = f"provenance.models: {model.role} {model.id} was not trained on what its recipe says"
            yield Finding(message, field="provenance.models.recipe", found=found, allowed=allowed)
