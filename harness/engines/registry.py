"""From the name of an engine to the engine. Names resolve late, so that listing them loads no MLX.

Which engines there are stands in `reports.engines`. The file that builds one is named after it: `fused-carry` is
`FusedCarryEngine` in `harness/engines/mlx/engines/fused_carry.py`, and on PyTorch in the same file under `torch`. One
of another package says where it is, to `register`, by itself or as a plug-in.
"""

import importlib
from typing import cast

from harness.base.errors import EngineError, UsageError
from harness.engines.base import Engine, LoadedVerifier
from harness.engines.spec import EngineSettings, foreign_to, misfit
from reports.engines import ENGINES, HTTP, MLX, ORACLE, REMOTE, Backend, built_by, register, registered
from reports.plugins.entry_points import PluginError, attribute_at
from reports.untrusted.nearest import unknown

__all__ = ["build", "engine_class", "http_engine", "register", "registered", "remote_engine"]

HOME = "harness.engines.{backend}.engines"


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
    fault = fault or foreign_to(ENGINES[name], verifier.backend)
    if fault is not None:
        raise UsageError(fault)
    if name == HTTP.name:
        return http_engine(verifier, settings)
    engine: Engine = engine_class(name, verifier.backend)(verifier, settings)
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


def http_engine(verifier: LoadedVerifier, settings: EngineSettings) -> Engine:
    """The endpoint that `settings` name.

    Raises:
        UsageError: they name none. EngineError: it is not there, or serves another model.
    """
    from harness.engines.http.engine import HttpEngine

    if settings.http is None:
        raise UsageError(f"engine {HTTP.name} needs a server and its model; set http.address and http.model")
    oracle = build(ORACLE.name, verifier, EngineSettings(prefill_chunk=settings.prefill_chunk))
    return HttpEngine(verifier, oracle, settings.http, settings.max_new_tokens)


def engine_class(name: str, backend: Backend = MLX) -> type:
    """The class that builds a known engine on `backend`.

    Raises:
        EngineError: another package's cannot be imported.
    """
    elsewhere = built_by(name)
    if elsewhere is not None:
        try:
            return cast(type, attribute_at(elsewhere))
        except PluginError as error:
            raise EngineError(f"engine {name}: {error}") from error
    if name == HTTP.name:
        from harness.engines.http.engine import HttpEngine

        return HttpEngine
    words = name.split("-")
    module = importlib.import_module(f"{HOME.format(backend=backend)}.{'_'.join(words)}")
    return cast(type, getattr(module, f"{''.join(map(str.capitalize, words))}Engine"))
