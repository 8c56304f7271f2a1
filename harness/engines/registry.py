"""From the name of an engine to the engine. Names resolve late, so that listing them loads no MLX.

Which engines there are stands in `reports.engines`. The file that builds one is named after it: `fused-carry` is
`FusedCarryEngine` in `harness/engines/mlx/engines/fused_carry.py`. One of another package says where it is.
"""

import importlib

from harness.base.errors import UsageError
from harness.base.nearest import unknown
from harness.engines.base import Engine, LoadedVerifier
from harness.engines.spec import REMOTE, EngineSettings, misfit
from reports import engines
from reports.engines import ENGINES, EngineKind

HOME = "harness.engines.mlx.engines"

_elsewhere: dict[str, str] = {}


def register(kind: EngineKind, built_by: str) -> None:
    """Add an engine of another package; `built_by` is the `package.module:Class` that is called as `build` does.

    Raises:
        ValueError: its name or its decode loop is another engine's.
    """
    engines.register(kind)
    _elsewhere[kind.name] = built_by


def registered() -> tuple[tuple[EngineKind, str], ...]:
    """The engines of other packages, as `register` takes them: a process that is started anew knows none."""
    return tuple((ENGINES[name], built_by) for name, built_by in _elsewhere.items())


def build(name: str, verifier: LoadedVerifier, settings: EngineSettings) -> Engine:
    """The engine called `name`, on `verifier`.

    Raises:
        UsageError: no engine has that name, or it is none that does what `settings` ask.
        EngineError: the engine cannot do it on this verifier.
    """
    if name == REMOTE:
        return remote_engine(verifier, settings)
    if name not in ENGINES:
        raise UsageError(unknown("engine", name, ENGINES))
    fault = misfit(ENGINES[name], settings.restoration, settings.drafter)
    if fault is not None:
        raise UsageError(fault)
    engine: Engine = engine_class(name)(verifier, settings)
    return engine


def remote_engine(verifier: LoadedVerifier, settings: EngineSettings) -> Engine:
    """The engine of the server that `settings` name.

    Raises:
        UsageError: they name none. EngineError: it serves another verifier, or is not there.
    """
    from harness.engines.remote.engine import RemoteEngine

    if settings.remote is None:
        raise UsageError(f"engine {REMOTE} needs the address of a server; set remote.address")
    return RemoteEngine(verifier, settings.remote)


def engine_class(name: str) -> type:
    """The class that builds a known engine."""
    words = name.split("-")
    path = _elsewhere.get(name, f"{HOME}.{'_'.join(words)}:{''.join(map(str.capitalize, words))}Engine")
    module, _, attribute = path.partition(":")
    found: type = getattr(importlib.import_module(module), attribute)
    return found
