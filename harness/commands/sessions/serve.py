"""`k3 serve`: one of K3's engines behind the session protocol, until it is interrupted."""

import json
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from harness.commands.run.options import BlockSize, Json, Model
from harness.commands.sessions.options import (
    Drafter,
    DrafterModel,
    DraftGraph,
    EngineOption,
    ExactLayers,
    FTheta,
    RestorationOption,
    Sink,
    Window,
    load_engine,
    served_settings,
)
from harness.commands.trust_option import TrustCode
from harness.fetching.progress import tell
from reports.engines import ORACLE

LOOPBACK = "127.0.0.1:50051"
LONGEST_END_S = 15.0
"""Seconds from a signal until the system ends the process, whatever it still waits for."""
LOOK_S = 0.5
"""How often the main thread wakes: Python handles a signal there, and one may come just before it begins to wait."""


def command(
    model: Model = "k3-tiny",
    engine: EngineOption = ORACLE.name,
    restoration: RestorationOption = "none",
    f_theta: FTheta = None,
    exact_layers: ExactLayers = "none",
    sink: Sink = 4,
    window: Window = 64,
    drafter: Drafter = None,
    drafter_model: DrafterModel = None,
    block_size: BlockSize = 8,
    graph: DraftGraph = "two_phase",
    address: Annotated[str, typer.Option(help="HOST:PORT to listen at; port 0 takes any free one.")] = LOOPBACK,
    token_file: Annotated[Path | None, typer.Option(help="A file (mode 600) with the token that calls need.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The server's key, PEM; with it calls are encrypted.")] = None,
    tls_certificate: Annotated[Path | None, typer.Option(help="The certificate of that key, PEM.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="Who signs certificates of clients, PEM; others may not call (mTLS).")
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, max=4096, help="Open at once.")] = 64,
    history: Annotated[int, typer.Option(min=1, max=4_194_304, help="Longest history, in tokens.")] = 131_072,
    idle: Annotated[int, typer.Option(min=1, help="Seconds after which a session nobody calls is closed.")] = 900,
    json_output: Json = False,
    trust_code: TrustCode = False,
) -> None:
    """Put an engine behind the session protocol (gRPC).

    Its sessions are greedy and append-only.
    """
    from harness.engines.remote.token_file import read_token
    from harness.remote.device_thread import DeviceThread
    from harness.remote.limits import Limits
    from harness.remote.server import Access, check_address, serving
    from harness.remote.service import SessionService

    named = served_settings(
        model, engine, restoration, f_theta, exact_layers, sink, window, drafter, drafter_model, block_size, graph
    )
    token = read_token(token_file) if token_file is not None else None
    access = Access(token, tls_key, tls_certificate, tls_client_ca)
    check_address(address, access)
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    with DeviceThread() as device:
        tell(f"loading {model}")
        engine_loaded = device.run("load", load_engine(named))
        service = SessionService(
            engine_loaded.served, Limits(sessions=sessions, history_tokens=history, idle_seconds=idle), device
        )
        with serving(service, address, access) as listening:
            told = {"address": listening, "model": model, "engine": engine}
            print(json.dumps(told) if json_output else f"serving {model} ({engine}) at {listening}", flush=True)
            never = threading.Event()
            while True:
                never.wait(LOOK_S)


def _end(number: int, frame: FrameType | None) -> None:
    """Interrupt, and have the system see to it that the process ends.

    An interpreter that ends waits for the threads of every call, and for those of MLX and gRPC; any of them may hang.
    """
    signal.setitimer(signal.ITIMER_REAL, LONGEST_END_S)
    raise KeyboardInterrupt
