"""A server that tells what cannot be is refused in one line: K3's own, whose answers are spoiled on their way."""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf, nan
from typing import Any

import grpc
import pytest

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.client import SessionClient
from harness.engines.remote.records import RefusedError
from harness.engines.spec import EngineSettings, RemoteSpec
from harness.remote.server import serving
from harness.remote.service import SessionService
from harness.remote.servicer import Servicer
from tests.harness.remote.served import models, running

PROMPT = [3 + n % 40 for n in range(90)]


class Spoiling(Servicer):
    """Sets one field of every message that has it: `path` from the message on, by names."""

    def __init__(self, service: SessionService, path: str, value: Any) -> None:
        super().__init__(service)
        self._kind, *self._path = path.split(".")
        self._value = value

    def AppendTokens(self, request: Any, context: grpc.ServicerContext) -> wire.AppendTokensResponse:  # noqa: N802
        return self._spoiled("append", super().AppendTokens(request, context))

    def GetSessionInfo(self, request: Any, context: grpc.ServicerContext) -> wire.GetSessionInfoResponse:  # noqa: N802
        return self._spoiled("info", super().GetSessionInfo(request, context))

    def Generate(self, request: Any, context: grpc.ServicerContext) -> Iterator[wire.GenerateFrame]:  # noqa: N802
        for frame in super().Generate(request, context):
            kind = frame.WhichOneof("frame")
            self._spoiled(str(kind), getattr(frame, str(kind)))
            yield frame

    def _spoiled(self, kind: str, message: Any) -> Any:
        if kind == self._kind:
            holder = message
            for name in self._path[:-1]:
                holder = getattr(holder, name)
            if isinstance(self._value, list):
                holder.ClearField(self._path[-1])
                getattr(holder, self._path[-1]).extend(self._value)
            else:
                setattr(holder, self._path[-1], self._value)
        return message


def refused(monkeypatch: pytest.MonkeyPatch, path: str, value: Any, call: Callable[[str], object]) -> str:
    """What is said of a server that spoils its answers so."""
    monkeypatch.setattr("harness.remote.server.Servicer", partial(Spoiling, path=path, value=value))
    with (
        running("incremental") as service,
        serving(service, "127.0.0.1:0") as address,
        pytest.raises((EngineError, RefusedError)) as raised,
    ):
        call(address)
    assert raised.value.exit_code == 3
    assert str(raised.value).isprintable()
    return str(raised.value)


def decode(address: str) -> None:
    engine = build("remote", models().verifier, EngineSettings(remote=RemoteSpec(address=address)))
    list(engine.decode(engine.prefill(PROMPT), DecodeLimit(6, {})))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("append.prefill_seconds", nan),
        ("append.prefill_seconds", -0.5),
        ("append.history_length", 2**60),
        ("append.next_token", 2**32 - 1),
        ("append.counted.aux_seconds", inf),
        ("append.counted.kv_bytes", 2**64 - 1),
        ("truncated.dropped", 2**54),
        ("block.seconds", nan),
        ("block.verify_seconds", -1e-9),
        ("block.draft_seconds", 1e300),
        ("done.decode_seconds", -inf),
        ("done.counted.restoration_seconds", 1e7),
        ("done.counted.drafter_bytes", 2**63),
    ],
)
def test_figures_that_cannot_be_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, path: str, value: float) -> None:
    said = refused(monkeypatch, path, value, decode)
    assert f"the server told {path.rpartition('.')[2]} {value:g}; 0 to " in said
    assert said.startswith("remote.address 127.0.0.1:")


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("append.next_token", 1024, "sent token 1024, and the verifier has 1024"),
        ("block.token_ids", [5, 2000], "sent token 2000, and the verifier has 1024"),
        ("block.token_ids", [], "a block without tokens"),
    ],
)
def test_tokens_that_the_verifier_has_not_are_refused(
    monkeypatch: pytest.MonkeyPatch, path: str, value: Any, told: str
) -> None:
    assert told in refused(monkeypatch, path, value, decode)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [("info.kv_bytes", 2**60, "told kv_bytes"), ("info.history_digest", "sha256", "not 64 hex digits")],
)
def test_what_is_told_of_a_session_is_held_to_the_same(
    monkeypatch: pytest.MonkeyPatch, path: str, value: Any, told: str
) -> None:
    def ask(address: str) -> None:
        client = SessionClient(address)
        client.info(client.create())

    assert told in refused(monkeypatch, path, value, ask)
