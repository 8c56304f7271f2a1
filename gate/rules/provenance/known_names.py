"""Whether a model goes by its own name and is described as it is: weights that K3 knows have one of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.rule import Example, Finding
from reports.known_models import KNOWN_MODELS, KNOWN_RECIPES, KNOWN_WEIGHTS

if TYPE_CHECKING:
    from gate.rulebook.report_view import ReportView
    from reports.known_models import KnownModel
    from reports.records.provenance import ModelInfo


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


@evidence_rule(
    "MODEL_CONTRADICTED",
    title="Known weights with what is not theirs",
    catches="A model whose weights K3 knows, with another architecture, other layers, another type, configuration or "
    "tokenizer than their folder has; without the recipe of their training, where the prompts know what they are made "
    "of; or a drafter or f_theta beside a known verifier whose hidden states it does not read.",
    why="Parity of a drafter says something for the verifier that it was trained on; ties are told apart by the type "
    "of the weights; and a recipe left out makes known text unknown text.",
    fix="Let the runner describe the models that it loads.",
    severity="withheld",
    since=8,
    example=Example(
        bad="k3-tiny-dflash beside smollm2-135m", good="k3-tiny-dflash beside k3-tiny, both as their folders have them"
    ),
)
def model_contradicted(view: ReportView) -> Iterator[Finding]:
    """A known model is described as another one."""
    report = view.report
    provenance, workload = report.provenance, report.workload
    if provenance is None or view.imported:
        return
    verifier = view.verifier
    main = KNOWN_WEIGHTS.get(verifier.weights or "") if verifier is not None else None
    grouped = workload is not None and any(prompt.group is not None for prompt in workload.prompts)
    for model in provenance.models:
        name = KNOWN_WEIGHTS.get(model.weights or "", "")
        known = KNOWN_MODELS.get(name)
        for field, found, wanted in _facts(model, known, cast=provenance.runtime is not None) if known else ():
            message = f"provenance.models: {model.role} {model.id} has {field} {found}; these weights have {wanted}"
            yield Finding(message, field=f"provenance.models.{field}", found=found[:80], allowed=wanted[:80])
        if known is not None and known.reads is not None and main not in (None, known.reads):
            message = f"provenance.models: {model.role} {model.id} reads hidden states of {known.reads}, beside {main}"
            yield Finding(message, field="provenance.models", found=str(main), allowed=known.reads)
        if grouped and model.recipe is None and name in KNOWN_RECIPES:
            message = f"provenance.models: {model.role} {model.id} without the recipe that its manifest has"
            yield Finding(message, field="provenance.models.recipe", found="none", allowed=KNOWN_RECIPES[name][:23])


def _facts(model: ModelInfo, known: KnownModel, *, cast: bool) -> Iterator[tuple[str, str, str]]:
    """What is told of a model and is not so; where PyTorch ran it, the verifier's type is that of the run."""
    if model.architecture not in (None, known.architecture):
        yield "architecture", str(model.architecture), known.architecture
    if model.layer_types and model.layer_types != known.layer_types:
        yield "layer_types", f"{len(model.layer_types)} layers", f"{len(known.layer_types)} layers of their kinds"
    if model.dtype not in (None, known.dtype) and not (cast and model.role == "verifier"):
        yield "dtype", str(model.dtype), known.dtype
    for field in ("config", "tokenizer"):
        found, wanted = getattr(model, field), getattr(known, field)
        if None not in (found, wanted) and found != wanted:
            yield field, found[:23], wanted[:23]
