"""What an engine behind the session protocol is made of: the options of a command, and the engine they name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.commands.run.niah import parse_exact_layers
from harness.commands.run.options import choice
from harness.engines.base import AppendingEngine
from harness.engines.spec import LAYER_NAMES, DrafterSpec, EngineSettings, Graph, RestorationSpec, misfit
from harness.plans.preset import NamedModel
from reports.drafters import DRAFTERS
from reports.engines import ENGINES, FUSED, INCREMENTAL, ORACLE
from reports.report import describe_invalid
from reports.restorations import RESTORATIONS

if TYPE_CHECKING:
    from harness.remote.service import Served
    from harness.runs.loaded.mlx_models import LoadedMlxModels

SESSION_ENGINES = tuple(name for name, kind in ENGINES.items() if not kind.foreign)
OFFERED = f"{ORACLE.name}, {INCREMENTAL.name} or {FUSED.name}"
EngineOption = Annotated[str, choice(SESSION_ENGINES, "What decodes.")]
RestorationOption = Annotated[str, choice(tuple(RESTORATIONS), "Of what leaves sink + window; none keeps everything.")]
FTheta = Annotated[str | None, typer.Option("--f-theta", help="The maps of restoration f_theta.")]
ExactLayers = Annotated[str, typer.Option(help=f"{', '.join(LAYER_NAMES)} or 18,19,20.")]
Sink = Annotated[int, typer.Option(help="Leading positions kept.")]
Window = Annotated[int, typer.Option(help="Last positions kept.")]
Drafter = Annotated[str | None, choice(tuple(DRAFTERS), "Who proposes to an engine that drafts.")]
DrafterModel = Annotated[str | None, typer.Option(help="Its weights, named as --model is; none for ngram.")]
DraftGraph = Annotated[str, choice(get_args(Graph), "Draft and verify in turn or at once.")]


@dataclass(frozen=True)
class ServedSettings:
    """A model and an engine with its settings, as named on the command line."""

    model: str
    engine: str
    settings: EngineSettings

    def models(self) -> tuple[NamedModel, ...]:
        """Models it loads beside the verifier."""
        drafter, f_theta = self.settings.drafter, self.settings.restoration.f_theta
        named = [NamedModel("drafter", drafter.model)] if drafter is not None and drafter.model is not None else []
        return (*named, *([NamedModel("f_theta", f_theta)] if f_theta is not None else []))


def served_settings(
    model: str,
    engine: str,
    restoration: str,
    f_theta: str | None,
    exact_layers: str,
    sink: int,
    window: int,
    drafter: str | None,
    drafter_model: str | None,
    block_size: int,
    graph: str,
) -> ServedSettings:
    """The settings that the options name.

    Raises:
        UsageError: a value out of range, or options that mean nothing together.
    """
    bounded = {"sink": sink, "window": window, "exact_layers": parse_exact_layers(exact_layers), "f_theta": f_theta}
    try:
        spec = RestorationSpec.model_validate({"restoration": restoration} | bounded)
        proposer = None
        if drafter is not None:
            proposer = DrafterSpec.model_validate(
                {"kind": drafter, "model": drafter_model, "block_size": block_size, "graph": graph}
            )
    except ValidationError as error:
        raise UsageError(describe_invalid(error)) from error
    fault = misfit(ENGINES[engine], spec, proposer)
    if fault is not None:
        raise UsageError(fault)
    return ServedSettings(model, engine, EngineSettings(restoration=spec, drafter=proposer))


@dataclass(frozen=True)
class LoadedEngine:
    """An engine to be served, and the models it was built on."""

    served: "Served"
    loaded: "LoadedMlxModels"


def load_engine(named: ServedSettings) -> Iterator[LoadedEngine]:
    """Load model and engine, as work for the device thread: what is built in a thread is evaluated in it.

    Raises:
        ModelError: missing or damaged. EngineError, UsageError: an engine that cannot do this.
    """
    from harness.engines.registry import build
    from harness.engines.remote.description import describe
    from harness.remote.service import Served
    from harness.runs.loaded.loading import load_models

    loaded = load_models(named.model, named.models())
    engine = build(named.engine, loaded.verifier, named.settings)
    if not isinstance(engine, AppendingEngine):
        raise UsageError(f"--engine {named.engine}: its sessions take one prompt; use {OFFERED}")
    vocabulary = loaded.verifier.architecture.vocab
    yield LoadedEngine(Served(engine, describe(engine, loaded.models, loaded.device, vocabulary)), loaded)
