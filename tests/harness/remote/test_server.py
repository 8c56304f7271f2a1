"""The wire: status codes, deadlines, cancellation, dead clients, and clients that send anything at all."""

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from harness.base.clock import now
from harness.base.errors import CannotRunError, UsageError
from harness.engines.base import Block
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.client import SessionClient
from harness.engines.remote.credentials import Credentials
from harness.engines.remote.records import Done, RefusedError, Sampling
from harness.engines.remote.stub import SessionsStub
from harness.engines.remote.token_file import read_token
from harness.remote.limits import Limits
from harness.remote.server import Access, check_address, serving
from harness.remote.service import SessionService
from tests.harness.remote.clients import TEXT
from tests.harness.remote.served import history_of, running, tokens_of
from tests.harness.remote.server_process import line_of, server_process

ANY_PORT = "127.0.0.1:0"
PATIENCE_S = 15.0


@contextmanager
def connected(
    case: str | None = "ar", limits: Limits | None = None, access: Access | None = None
) -> Iterator[tuple[SessionClient, SessionService, str]]:
    with running(case, limits) as service, serving(service, ANY_PORT, access) as address:
        client = SessionClient(address, Credentials(token=access.token if access is not None else None))
        yield client, service, address
        client.close()


def status_of(call: Callable[[], Any]) -> str:
    with pytest.raises(RefusedError) as refused:
        call()
    assert "Traceback" not in str(refused.value)
    assert "\n" not in str(refused.value)
    return refused.value.status


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait for what another process or thread brings about."""
    limit, pause = now() + PATIENCE_S, threading.Event()
    while not holds():
        if now() > limit:
            return False
        pause.wait(0.02)
    return True


def opened(client: SessionClient) -> str:
    name = client.create("")
    client.append(name, TEXT)
    return name


def test_every_status_code_is_seen() -> None:
    with connected("incremental", Limits(sessions=2, message_bytes=2048)) as (client, service, _):
        name = opened(client)
        assert status_of(lambda: client.info("nobody")) == "NOT_FOUND"
        assert status_of(lambda: client.append(name, [1024])) == "INVALID_ARGUMENT"
        assert status_of(lambda: list(client.generate(name, 0))) == "INVALID_ARGUMENT"
        assert status_of(lambda: list(client.generate(name, 3, Sampling(temperature=0.7)))) == "INVALID_ARGUMENT"
        assert status_of(lambda: client.append(name, [900] * 4000)) == "RESOURCE_EXHAUSTED"
        other = client.create("")
        assert status_of(lambda: list(client.generate(other, 3))) == "INVALID_ARGUMENT"
        assert status_of(lambda: client.create("")) == "RESOURCE_EXHAUSTED"
        assert len(tokens_of(list(client.generate(name, 3)))) == 3
        service._sessions[name].history.tokens.append(4)  # type: ignore[union-attr]
        assert status_of(lambda: client.info(name)) == "FAILED_PRECONDITION"
        service._sessions[other].history = None  # type: ignore[union-attr,assignment]
        assert status_of(lambda: client.append(other, [5])) == "INTERNAL"
    with connected(None) as (client, _, address):
        name = client.create("")
        assert status_of(lambda: list(client.generate(name, 3))) == "UNIMPLEMENTED"
        assert status_of(lambda: client.append(name, [5])) == "UNIMPLEMENTED"
    late = SessionClient(address)
    assert status_of(late.describe) == "UNAVAILABLE"
    late.close()


def test_without_the_token_nothing_is_told() -> None:
    with connected(access=Access(token="0123456789abcdef")) as (client, _, address):
        assert client.create("")
        for token in (None, "0123456789abcdeg", ""):
            stranger = SessionClient(address, Credentials(token=token))
            assert status_of(stranger.describe) == "UNAUTHENTICATED"
            assert status_of(lambda stranger=stranger: list(stranger.generate("x", 1))) == "UNAUTHENTICATED"
            stranger.close()


def test_a_token_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o644)
    with pytest.raises(CannotRunError, match="chmod 600"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == "0123456789abcdef"
    for text in ("short", "", "a" * 5000, "two\nlines of it, and more"):
        path.write_text(text)
        with pytest.raises(CannotRunError, match="token"):
            read_token(path)
    with pytest.raises(CannotRunError, match="token"):
        read_token(tmp_path / "none")


@pytest.mark.parametrize(
    "address", ["0.0.0.0:1", "192.0.2.1:50051", "[::]:1", "nowhere", "127.0.0.1:x", ":5", "h:99999"]
)
def test_what_others_reach_wants_a_token(address: str) -> None:
    with pytest.raises(UsageError, match="--address"):
        check_address(address, Access())


def test_an_address_that_is_taken_is_said() -> None:
    with (
        connected() as (_, service, address),
        pytest.raises(CannotRunError, match="cannot listen"),
        serving(service, address),
    ):
        pass


def test_it_tells_what_it_is_and_that_it_is_well() -> None:
    with connected("fused-bounded") as (client, _, address):
        described = client.describe()
        assert (described.engine, described.decode_loop, described.vocabulary) == ("fused", "fused_block", 1024)
        assert described.restoration is not None
        assert (described.restoration.mode, described.restoration.window) == ("ablate", 64)
        assert described.drafter is not None
        assert described.models[0].weights is not None
        with grpc.insecure_channel(address) as channel:
            health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=""))
        assert health.status == health_pb2.HealthCheckResponse.SERVING


def test_a_deadline_ends_a_stream_between_blocks_and_the_session_goes_on() -> None:
    with connected("fused") as (client, _, _):
        name = opened(client)
        assert status_of(lambda: list(client.generate(name, 50_000, deadline_s=0.3))) == "DEADLINE_EXCEEDED"
        assert eventually(lambda: client.info(name).last_stop == "CANCELLED")
        length = client.info(name).history_length
        assert length > len(TEXT)
        assert client.append(name, [5]).history_length == length + 1
        assert isinstance(list(client.generate(name, 3))[-1], Done)


def test_a_deadline_in_an_append_leaves_the_rest_to_be_read() -> None:
    long = history_of(random.Random(1), 2500)
    with connected("incremental") as (client, service, _):
        once, late = client.create(""), client.create("")
        client.append(once, long)
        assert status_of(lambda: client.append(late, long, deadline_s=0.05)) == "DEADLINE_EXCEEDED"
        assert eventually(lambda: not service.device.busy(late))
        info = client.info(late)
        if info.history_length == 0:  # the deadline passed before its turn came
            client.append(late, long)
        else:
            assert info.next_position < info.history_length == len(long)
        assert tokens_of(list(client.generate(late, 4))) == tokens_of(list(client.generate(once, 4)))


def test_a_client_that_cancels_keeps_its_session() -> None:
    with connected() as (client, _, _):
        name = opened(client)
        wanted = tokens_of(list(client.generate(opened(client), 30)))
        stream = client.generate(name, 30)
        assert isinstance(next(stream), Block)
        stream.close()  # type: ignore[attr-defined]
        assert eventually(lambda: client.info(name).last_stop in ("CANCELLED", "MAX_TOKENS"))
        emitted = client.info(name).history_length - len(TEXT)
        rest = tokens_of(list(client.generate(name, 30 - emitted))) if emitted < 30 else []
        assert rest == wanted[emitted:]


def test_a_client_that_does_not_read_loses_its_generation_and_nobody_waits_for_it() -> None:
    narrow = [("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)]
    with (
        connected("ar", Limits(unread_seconds=1)) as (client, service, address),
        grpc.insecure_channel(address, narrow) as channel,
    ):
        name, other = opened(client), opened(client)
        stream = SessionsStub(channel).generate(wire.GenerateRequest(session_id=name, max_tokens=100_000))
        next(stream)
        assert eventually(lambda: bool(service.device._unread))
        assert len(tokens_of(list(client.generate(other, 200)))) == 200
        length = client.info(name).history_length
        assert eventually(lambda: not service.device.busy(name))
        with pytest.raises(grpc.RpcError) as ended:
            list(stream)
        assert ended.value.code() == grpc.StatusCode.CANCELLED
        info = client.info(name)
        assert (info.history_length, info.last_stop) == (length, "CANCELLED")
        assert len(tokens_of(list(client.generate(name, 5)))) == 5


def test_a_held_session_goes_with_its_client() -> None:
    with connected() as (client, service, address):
        holder = SessionClient(address)
        name = holder.create("", hold=True)
        holder.append(name, TEXT)
        assert client.info(name).history_length == len(TEXT)
        holder.close()
        assert eventually(lambda: not service.exists(name))
        assert status_of(lambda: client.info(name)) == "NOT_FOUND"


def test_clients_killed_in_mid_stream_leave_nothing_behind() -> None:
    with connected("fused") as (client, service, address):
        name = opened(client)
        for _ in range(3):
            with server_process(address, program=("-m", "tests.harness.remote.clients")) as killed:
                theirs = line_of(killed).strip()
                assert service.exists(theirs)
                os.kill(killed.pid, signal.SIGKILL)
            assert eventually(lambda theirs=theirs: not service.exists(theirs))
        assert len(tokens_of(list(client.generate(name, 5)))) == 5
        assert eventually(lambda: service.kv_bytes() == client.info(name).kv_bytes)


def test_sessions_side_by_side_get_turns_alike() -> None:
    """Sixteen generations at once: no one is done long before another, and each gets its own tokens."""
    chance = random.Random(2)
    with connected("fused") as (client, _, _):
        texts = [history_of(chance, 40) for _ in range(16)]
        names = [client.create("") for _ in texts]
        for name, text in zip(names, texts, strict=True):
            client.append(name, text)
        emitted: dict[str, list[int]] = {}
        order: list[str] = []

        def generate(name: str) -> None:
            tokens: list[int] = []
            for frame in client.generate(name, 24):
                if isinstance(frame, Block):
                    tokens += frame.tokens
                    order.append(name)
            emitted[name] = tokens

        threads = [threading.Thread(target=generate, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, text in zip(names, texts, strict=True):
            again = client.create("")
            client.append(again, text)
            assert tokens_of(list(client.generate(again, 24))) == emitted[name]
            client.close_session(again)
        first_done = min(max(place for place, who in enumerate(order) if who == name) for name in names)
        assert len(set(order[:first_done])) == len(names)


METHODS = (
    "CreateSession",
    "AppendTokens",
    "Generate",
    "CloseSession",
    "GetSessionInfo",
    "Describe",
    "HoldSession",
    "No",
)


def test_whatever_bytes_come_in_no_traceback_and_no_foreign_token_goes_out() -> None:
    chance, told = random.Random(3), list[str]()
    with connected("fused", Limits(sessions=8)) as (client, _, address):
        name = opened(client)
        before = client.info(name)
        with grpc.insecure_channel(address) as channel:
            for _ in range(300):
                method = chance.choice(METHODS)
                body = chance.randbytes(chance.choice([0, 1, 7, 40, 300]))
                if chance.random() < 0.3:
                    body = b"\x0a" + bytes([len(name)]) + chance.randbytes(len(name)) + body
                call = channel.unary_stream(f"/k3.sessions.v1.Sessions/{method}", bytes, bytes)
                try:
                    for answer in call(body, timeout=0.5 if method == "HoldSession" else 5):
                        assert name.encode() not in answer
                except grpc.RpcError as error:
                    told.append(str(error.details()))
            huge = channel.unary_unary("/k3.sessions.v1.Sessions/CreateSession", bytes, bytes)
            with pytest.raises(grpc.RpcError) as refused:
                huge(b"\x0a" + b"\xff" * (2 * 2**20), timeout=5)
            assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert len(told) > 100
        assert not [said for said in told if "Traceback" in said or 'File "' in said or name in said]
        assert client.info(name) == before
        assert len(tokens_of(list(client.generate(name, 4)))) == 4
