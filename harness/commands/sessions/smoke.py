"""`k3 smoke`: ten steps against a server that it starts, or that is there, and a report of them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.clock import utc_now
from harness.commands.run.options import BlockSize, Json, Model, Out, Verbose, choice
from harness.commands.sessions.options import (
    Drafter,
    DrafterModel,
    DraftGraph,
    EngineOption,
    ExactLayers,
    FTheta,
    ServedSettings,
    Sink,
    Window,
    load_engine,
    served_settings,
)
from harness.commands.sessions.settle import place_for, settle_conduct, stamped
from harness.commands.trust_option import TrustCode
from harness.fetching.progress import say
from reports.engines import ENGINES, INCREMENTAL
from reports.report import Report
from reports.restorations import RESTORATIONS

DEADLINE_S = 600.0


def command(
    model: Model = "k3-tiny",
    engine: EngineOption = INCREMENTAL.name,
    restoration: Annotated[
        str | None,
        choice(tuple(RESTORATIONS), "Default: ablate for incremental, so that something is dropped; else none."),
    ] = None,
    f_theta: FTheta = None,
    exact_layers: ExactLayers = "none",
    sink: Sink = 4,
    window: Window = 64,
    drafter: Drafter = None,
    drafter_model: DrafterModel = None,
    block_size: BlockSize = 8,
    graph: DraftGraph = "two_phase",
    address: Annotated[
        str | None, typer.Option(help="HOST:PORT of a server that is there; else one is started.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="A file (mode 600) with the token of that server.")] = None,
    out: Out = None,
    json_output: Json = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Take a server through the ten steps of the session protocol, and write a runtime_smoke report."""
    mode = restoration or ("ablate" if engine == INCREMENTAL.name else "none")
    named = served_settings(
        model, engine, mode, f_theta, exact_layers, sink, window, drafter, drafter_model, block_size, graph
    )
    place = place_for(f"smoke-{engine}" if address is None else "smoke-address", out)
    report = _of_own_server(named) if address is None else _of_address(address, token_file)
    settle_conduct(report, place, json_output=json_output, verbose=verbose)


def _of_own_server(named: ServedSettings) -> Report:
    """Start a server on a free port, smoke it, and end it."""
    from harness.base.provenance import read_provenance
    from harness.engines.remote.client import SessionClient
    from harness.remote.device_thread import DeviceThread
    from harness.remote.limits import Limits
    from harness.remote.server import serving
    from harness.remote.service import SessionService
    from harness.remote.smoke import run_smoke

    device = DeviceThread()
    try:
        say(f"loading {named.model}")
        engine = device.run("load", load_engine(named))
        loaded = engine.loaded
        with serving(SessionService(engine.served, Limits(), device), "127.0.0.1:0") as listening:
            client = SessionClient(listening, deadline_s=DEADLINE_S)
            smoke = run_smoke(client, client.describe(), started=True)
            client.close()
    finally:
        device.stop()
    return Report(
        kind="runtime_smoke",
        report_id=stamped(f"smoke-{ENGINES[named.engine].name}"),
        created_at=utc_now(),
        provenance=read_provenance(loaded.models, loaded.device, loaded.blas, loaded.blas_threads),
        runtime_smoke=smoke,
    )


def _of_address(address: str, token_file: Path | None) -> Report:
    """Smoke a server that is there. Models, packages and device are what it tells."""
    from harness.base.provenance import anonymous_argv, read_host, read_source
    from harness.engines.remote.client import Credentials, SessionClient
    from harness.engines.remote.token_file import read_token
    from harness.remote.smoke import run_smoke
    from reports.records.provenance import Provenance

    token = read_token(token_file) if token_file is not None else None
    client = SessionClient(address, Credentials(token=token), deadline_s=DEADLINE_S)
    described = client.describe()
    smoke = run_smoke(client, described, started=False)
    client.close()
    return Report(
        kind="runtime_smoke",
        report_id=stamped("smoke-address"),
        created_at=utc_now(),
        provenance=Provenance(
            source=read_source(),
            argv=anonymous_argv(sys.argv),
            host=read_host(),
            packages=described.packages,
            models=described.models,
            device=described.device,
        ),
        runtime_smoke=smoke,
    )
