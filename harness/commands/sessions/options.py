"""What an engine behind the session protocol is made of: the options of a command, and the engine they name."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.commands.run.niah import parse_exact_layers
from harness.commands.run.options import choice
from harness.engines.base import AppendingEngine
from harness.engines.spec import LAYER_NAMES, DrafterSpec, EngineSettings, Graph, RestorationSpec, foreign_to, misfit
from harness.plans.preset import NamedModel
from reports.drafters import DRAFTERS, loaded_by
from reports.engines import ENGINES, FUSED, INCREMENTAL, MLX, ORACLE, built_by
from reports.plugins.entry_points import Plugin, find
from reports.restorations import RESTORATIONS
from reports.untrusted.faults import fault_words

if TYPE_CHECKING:
    from harness.remote.service import Served
    from harness.runs.loaded.mlx_models import LoadedMlxModels

OURS = tuple(name for name, kind in ENGINES.items() if not kind.foreign)
OFFERED = f"{ORACLE.name}, {INCREMENTAL.name} or {FUSED.name}"
EngineOption = Annotated[str, choice(ENGINES, "What decodes, or a plug-in's (docs/plugins.md).", shown=OURS)]
RestorationOption = Annotated[str, choice(tuple(RESTORATIONS), "Of what leaves sink + window; none keeps everything.")]
FTheta = Annotated[str | None, typer.Option("--f-theta", help="The maps of restoration f_theta.")]
ExactLayers = Annotated[str, typer.Option(help=f"{', '.join(LAYER_NAMES)} or 18,19,20.")]
Sink = Annotated[int, typer.Option(help="Leading positions kept.")]
Window = Annotated[int, typer.Option(help="Last positions kept.")]
Drafter = Annotated[str | None, choice(DRAFTERS, "Who proposes to an engine that drafts.")]
DrafterModel = Annotated[str | None, typer.Option(help="Its weights, named as --model is; none for ngram.")]
DraftGraph = Annotated[str, choice(get_args(Graph), "Draft and verify in turn or at once.")]
FLAGS = {"kind": "drafter", "model": "drafter_model"}
"""What a field of the records is called on the command line, where that is not its own name."""
FIELDS = r"(?<=\bin )f_theta\b|\btls_(?:ca|key|certificate)\b"
"""Fields that a fault of a whole record names; `f_theta` alone is a restoration."""
OF_ENGINE = (
    "model",
    "engine",
    "restoration",
    "f_theta",
    "exact_layers",
    "sink",
    "window",
    "drafter",
    "drafter_model",
    "block_size",
    "graph",
    "trust_code",
)
"""Options, by the names of their parameters, that say what is to be loaded."""


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

    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins that take part."""
        drafter = self.settings.drafter
        found = [find("engines", self.engine)] if built_by(self.engine) is not None else []
        if drafter is not None and loaded_by(drafter.kind) is not None:
            found.append(find("drafters", drafter.kind))
        return tuple(plugin for plugin in found if plugin is not None)


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
        raise UsageError(by_flag(error)) from error
    fault = misfit(ENGINES[engine], spec, proposer)
    if fault is not None:
        flag = "--drafter" if spec.restoration == "none" or ENGINES[engine].bounds else "--restoration"
        raise UsageError(f"{flag}: {fault}")
    _check_appends(engine)
    return ServedSettings(model, engine, EngineSettings(restoration=spec, drafter=proposer))


def _check_appends(engine: str) -> None:
    """Refuse an engine whose sessions cannot go on, before any model is loaded.

    Raises:
        UsageError: its class has no `append`, or is of another backend.
        EngineError: a plug-in's class cannot be imported.
    """
    from harness.engines.registry import engine_class

    fault = foreign_to(ENGINES[engine], MLX)
    peer = ENGINES[engine].foreign and built_by(engine) is None  # whose class may need a package that is not here
    if fault is None and (peer or not hasattr(engine_class(engine), "append")):
        fault = f"its sessions take one prompt; use {OFFERED}"
    if fault is not None:
        raise UsageError(f"--engine {engine}: {fault}")


def by_flag(error: ValidationError) -> str:
    """The first fault of a validation, with the option that it is about before it."""
    first = error.errors(include_url=False)[0]
    said = fault_words(first)
    if not first["loc"]:
        return re.sub(FIELDS, lambda found: _flag(found[0]), said)
    return f"{_flag(str(first['loc'][0]))} {first['input']}: {said}"


def _flag(field: str) -> str:
    return f"--{FLAGS.get(field, field).replace('_', '-')}"


def refuse_given(context: typer.Context, names: Collection[str], because: str) -> None:
    """Refuse options that mean nothing here: what was given and is not looked at would be believed.

    Raises:
        UsageError: some of `names` (of parameters) were given on the command line.
    """
    given = [
        one.opts[-1]
        for one in context.command.params
        if one.name in names and getattr(context.get_parameter_source(one.name), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise UsageError(f"{', '.join(given)}: {because}")


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
    from harness.engines.remote.description import describe_engine
    from harness.remote.service import Served
    from harness.runs.loaded.loading import load_models

    loaded = load_models(named.model, named.models())
    engine = build(named.engine, loaded.verifier, named.settings)
    if not isinstance(engine, AppendingEngine):
        raise UsageError(f"--engine {named.engine}: it lacks what sessions need (append, held); use {OFFERED}")
    vocabulary = loaded.verifier.architecture.vocab
    told = describe_engine(engine, loaded.models, loaded.device, vocabulary, named.plugins())
    yield LoadedEngine(Served(engine, told), loaded)
