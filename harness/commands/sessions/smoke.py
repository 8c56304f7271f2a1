"""`k3 smoke`: ten steps against a server that it starts, or that is there, and a report of them."""

import sys
from typing import Annotated

import typer
from pydantic import ValidationError

from harness.base.clock import utc_now
from harness.base.errors import CannotRunError, UsageError
from harness.commands.run.options import BlockSize, Json, Model, Out, Verbose, choice
from harness.commands.sessions.options import (
    OF_ENGINE,
    Drafter,
    DrafterModel,
    DraftGraph,
    EngineOption,
    ExactLayers,
    FTheta,
    ServedSettings,
    Sink,
    Window,
    by_flag,
    load_engine,
    refuse_given,
    served_settings,
)
from harness.commands.sessions.settle import place_for, settle_conduct, stamped
from harness.commands.trust_option import TrustCode
from harness.engines.spec import RemoteSpec
from harness.fetching.progress import tell
from reports.engines import ENGINES, INCREMENTAL
from reports.report import Report
from reports.restorations import RESTORATIONS

DEADLINE_S = 600.0
OF_ADDRESS = ("token_file", "tls_ca", "tls_key", "tls_certificate")


def command(
    context: typer.Context,
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
    token_file: Annotated[str | None, typer.Option(help="A file (mode 600) with the token of that server.")] = None,
    tls_ca: Annotated[str | None, typer.Option(help="Who signs that server's certificate, PEM.")] = None,
    tls_key: Annotated[
        str | None, typer.Option(help="A key of ours, PEM, where that server wants proof (mTLS).")
    ] = None,
    tls_certificate: Annotated[str | None, typer.Option(help="The certificate of that key, PEM.")] = None,
    out: Out = None,
    json_output: Json = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Take a server through the session protocol, step by step.

    A runtime_smoke report tells how its ten steps went.
    """
    if address is not None:
        refuse_given(context, OF_ENGINE, "the server at --address decides that; leave it out")
        there = _spec(address, token_file, tls_ca, tls_key, tls_certificate)
        place = place_for("smoke-address", out)
        settle_conduct(_of_address(there), place, json_output=json_output, verbose=verbose)
    refuse_given(context, OF_ADDRESS, "for a server at --address; the one that is started here listens to this command")
    mode = restoration or ("ablate" if engine == INCREMENTAL.name else "none")
    named = served_settings(
        model, engine, mode, f_theta, exact_layers, sink, window, drafter, drafter_model, block_size, graph
    )
    place = place_for(f"smoke-{engine}", out)
    settle_conduct(_of_own_server(named), place, json_output=json_output, verbose=verbose)


def _spec(address: str, token_file: str | None, ca: str | None, key: str | None, certificate: str | None) -> RemoteSpec:
    """The server that the options name.

    Raises:
        UsageError: it is no address, or half of what TLS takes.
    """
    try:
        return RemoteSpec(address=address, token_file=token_file, tls_ca=ca, tls_key=key, tls_certificate=certificate)
    except ValidationError as error:
        raise UsageError(by_flag(error)) from error


def _of_own_server(named: ServedSettings) -> Report:
    """Start a server on a free port, smoke it, and end it."""
    from harness.base.provenance import read_provenance
    from harness.engines.remote.client import SessionClient
    from harness.remote.device_thread import DeviceThread
    from harness.remote.limits import Limits
    from harness.remote.server import serving
    from harness.remote.service import SessionService
    from harness.remote.smoke import run_smoke

    with DeviceThread() as device:
        tell(f"loading {named.model}")
        engine = device.run("load", load_engine(named))
        loaded = engine.loaded
        with serving(SessionService(engine.served, Limits(), device), "127.0.0.1:0") as listening:
            client = SessionClient(listening, deadline_s=DEADLINE_S)
            smoke = run_smoke(client, client.describe(), started=True)
            client.close()
    return Report(
        kind="runtime_smoke",
        report_id=stamped(f"smoke-{ENGINES[named.engine].name}"),
        created_at=utc_now(),
        provenance=read_provenance(loaded.models, loaded.device, loaded.blas, loaded.blas_threads, named.plugins()),
        runtime_smoke=smoke,
    )


def _of_address(there: RemoteSpec) -> Report:
    """Smoke a server that is there. Models, packages and device are what it tells.

    Raises:
        CannotRunError: it is not there, or does not let us in.
    """
    from harness.base.provenance import anonymous_argv, read_host, read_source
    from harness.engines.remote.client import SessionClient
    from harness.engines.remote.credentials import credentials_of
    from harness.engines.remote.records import RefusedError
    from harness.remote.smoke import run_smoke
    from reports.records.provenance import Provenance

    client = SessionClient(there.address, credentials_of(there), deadline_s=DEADLINE_S)
    try:
        described = client.describe()
    except RefusedError as error:
        raise CannotRunError(f"--address {there.address}: {error} ({error.status})") from error
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
            plugins=described.plugins or None,
            device=described.device,
        ),
        runtime_smoke=smoke,
    )
