"""What a client is told where no session server answers: one line, what is wrong and what to do, no words of gRPC's."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from pydantic import ValidationError

from harness.base.errors import CannotRunError, EngineError
from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.client import SessionClient
from harness.engines.remote.credentials import Credentials
from harness.engines.remote.records import RefusedError
from harness.engines.remote.stub import SERVICE
from harness.engines.remote.unreachable import why_unreachable
from harness.engines.spec import EngineSettings, RemoteSpec, host_and_port
from harness.remote.limits import Limits
from harness.remote.server import Access, serving
from tests.harness.engines.http.hostile import answering
from tests.harness.remote.certificates import Authority
from tests.harness.remote.served import models, running
from tests.harness.remote.server_process import line_of, server_process

GRPCS_OWN = ("ipv4:", "last error", "UNKNOWN:", "UNAVAILABLE:", "recvmsg", "handshak", "Traceback", "0x")


def told(call: Callable[[], object]) -> RefusedError:
    """The error of a call, which is one line in words of ours."""
    with pytest.raises(RefusedError) as raised:
        call()
    said = str(raised.value)
    assert said.isprintable()
    assert not [word for word in GRPCS_OWN if word in said]
    return raised.value


def described(address: str, given: Credentials | None = None, deadline_s: float = 5.0) -> RefusedError:
    client = SessionClient(address, given, deadline_s)
    error = told(client.describe)
    client.close()
    return error


@contextmanager
def saying(said: bytes | None) -> Iterator[str]:
    """Something that listens and greets whoever comes so; None: it says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            held = []
            while True:
                try:
                    there, _ = listening.accept()
                except OSError:
                    return
                held.append(there)
                if said is not None:
                    there.sendall(said)
                    there.close()

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


@contextmanager
def another_service() -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("127.0.0.1:1", "nothing listens there; start `k3 serve`"),
        ("no-such-host.invalid:50051", "no machine of that name"),
        ("nowhere", "is no HOST:PORT"),
        ("127.0.0.1:x", "is no HOST:PORT"),
        ("127.0.0.1:99999", "is no HOST:PORT"),
    ],
)
def test_nobody_there(address: str, problem: str) -> None:
    error = described(address)
    assert error.status == "UNAVAILABLE"
    assert problem in str(error)


@pytest.mark.parametrize("host", ["x" * 64, "a..b", ".", "[.]"])
def test_a_name_that_no_machine_can_have_is_told_as_one_that_is_unknown(host: str) -> None:
    assert "no machine of that name" in (why_unreachable(f"{host}:50051", Credentials()) or "")


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:x", "127.0.0.1:", ":50051", "[]:1", "h:65536", "h:0050051"])
def test_what_is_no_address_is_refused_before_any_model_is_loaded(address: str) -> None:
    with pytest.raises(ValidationError, match="give HOST:PORT"):
        RemoteSpec(address=address)


def test_an_address_has_a_host_and_a_port() -> None:
    assert host_and_port("127.0.0.1:50051") == ("127.0.0.1", 50051)
    assert host_and_port("[::1]:0") == ("::1", 0)


def test_a_token_is_shown_in_no_traceback() -> None:
    assert "secret" not in repr(Credentials("secret")) + repr(Access("secret"))


def test_servers_of_other_protocols() -> None:
    with answering([]) as address:
        assert "a server of HTTP/1 answers there" in str(described(address.removeprefix("http://")))
    for greeting in (b"SSH-2.0-OpenSSH_9\r\n", b"", os.urandom(64)):
        with saying(greeting) as address:
            assert "speaks no gRPC" in str(described(address))
    with another_service() as address:
        assert "not K3's session protocol" in str(described(address))


def test_one_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.engines.remote.unreachable.LOOK_S", 0.2)
    with saying(None) as address:
        error = described(address, deadline_s=0.2)
    assert error.status == "DEADLINE_EXCEEDED"
    assert "says nothing" in str(error)


@contextmanager
def never_holding() -> Iterator[str]:
    """A session server that opens sessions, and never says that it holds one."""
    ended = threading.Event()

    def create(request: wire.CreateSessionRequest, context: grpc.ServicerContext) -> wire.CreateSessionResponse:
        return wire.CreateSessionResponse(session_id="one")

    def hold(request: wire.HoldSessionRequest, context: grpc.ServicerContext) -> Iterator[wire.HoldSessionFrame]:
        ended.wait()
        yield wire.HoldSessionFrame()

    answered = {
        "CreateSession": grpc.unary_unary_rpc_method_handler(
            create, wire.CreateSessionRequest.FromString, wire.CreateSessionResponse.SerializeToString
        ),
        "HoldSession": grpc.unary_stream_rpc_method_handler(
            hold, wire.HoldSessionRequest.FromString, wire.HoldSessionFrame.SerializeToString
        ),
    }
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE.full_name, answered),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    ended.set()
    server.stop(0).wait()


def test_a_session_that_is_never_held_is_not_waited_for() -> None:
    with never_holding() as address:
        client = SessionClient(address, deadline_s=0.5)
        assert "no answer in time" in str(told(lambda: client.create(hold=True)))
        client.close()


def test_tokens_and_limits() -> None:
    access = Access(token="0123456789abcdef")
    with running("ar", Limits(sessions=1, message_bytes=2048)) as service, serving(service, "127.0.0.1:0") as address:
        client = SessionClient(address)
        name = client.create()
        assert "1 sessions are open, as many as may be; close one" in str(told(client.create))
        large = told(lambda: client.append(name, [900] * 4000))
        assert "send fewer tokens at once" in str(large)
        assert large.status == "RESOURCE_EXHAUSTED"
        client.append(name, [5, 6, 7])
        late = told(lambda: list(client.generate(name, 50_000, deadline_s=0.3)))
        assert "no answer within 0.3 s; the server is busy" in str(late)
        client.close()
    with running("ar") as service, serving(service, "127.0.0.1:0", access) as address:
        assert "wants a token" in str(described(address))
        assert "has another token" in str(described(address, Credentials(token="fedcba9876543210")))


def test_a_server_killed_in_mid_stream() -> None:
    with server_process("serve", "--address", "127.0.0.1:0") as server:
        address = line_of(server).split()[-1]
        settings = EngineSettings(remote=RemoteSpec(address=address))
        engine = build("remote", models().verifier, settings)
        blocks = iter(engine.decode(engine.prefill(list(range(5, 60))), DecodeLimit(4000, {})))
        next(blocks)
        server.kill()
        server.wait()
        with pytest.raises(EngineError) as raised:
            list(blocks)
    said = str(raised.value)
    assert said.startswith(f"remote.address {address}: the connection broke off: nothing listens there")
    assert not [word for word in GRPCS_OWN if word in said]


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Authority]:
    folder = tmp_path_factory.mktemp("certificates")
    return Authority(folder, "ours"), Authority(folder, "theirs")


def test_tls_and_mtls_let_those_in_who_prove_themselves(authorities: tuple[Authority, Authority]) -> None:
    ours, theirs = authorities
    server, mine = ours.sign("server"), ours.sign("client")
    late, strange = ours.sign("late", expired=True), theirs.sign("strange")
    trusting, plain = Credentials(authority=ours.certificate), Credentials()

    def proving(pair: object) -> Credentials:
        return Credentials(None, ours.certificate, pair.key, pair.certificate)  # type: ignore[attr-defined]

    def all_of(given: Credentials) -> str:
        return str(described(address, given))

    mutual = Access(key=server.key, certificate=server.certificate, client_ca=ours.certificate)
    with running("ar") as service, serving(service, "127.0.0.1:0", mutual) as address:
        client = SessionClient(address, proving(mine))
        assert client.describe().engine == "ar"
        assert why_unreachable(address, proving(mine)) is None
        client.close()
        assert "wants a certificate of its client" in all_of(trusting)
        assert "refuses this client's certificate" in all_of(proving(late))
        assert "refuses this client's certificate" in all_of(proving(strange))
        assert "the server speaks TLS; name the authority" in all_of(plain)
        assert "is not to be trusted: " in all_of(Credentials(authority=theirs.certificate))
    one_sided = Access(token="0123456789abcdef", key=server.key, certificate=server.certificate)
    with running("ar") as service, serving(service, "127.0.0.1:0", one_sided) as address:
        client = SessionClient(address, Credentials("0123456789abcdef", ours.certificate))
        assert client.describe().engine == "ar"
        client.close()
        assert "wants a token" in all_of(trusting)
        assert "the server speaks TLS" in all_of(plain)


@pytest.mark.parametrize(
    ("changes", "problem"), [({"expired": True}, "certificate has expired"), ({"host": "192.0.2.1"}, "IP address")]
)
def test_a_server_that_does_not_prove_itself(
    changes: dict[str, object], problem: str, authorities: tuple[Authority, Authority]
) -> None:
    ours, _ = authorities
    pair = ours.sign("doubtful", **changes)  # type: ignore[arg-type]
    access = Access(key=pair.key, certificate=pair.certificate)
    with running("ar") as service, serving(service, "127.0.0.1:0", access) as address:
        assert problem in str(described(address, Credentials(authority=ours.certificate)))
    with running("ar") as service, serving(service, "127.0.0.1:0") as address:
        assert "the server speaks no TLS" in str(described(address, Credentials(authority=ours.certificate)))


def test_files_that_hold_no_certificate_are_named(tmp_path: Path, authorities: tuple[Authority, Authority]) -> None:
    ours, _ = authorities
    one, other = ours.sign("one"), ours.sign("other")
    nothing, random = tmp_path / "none.pem", tmp_path / "random.pem"
    random.write_bytes(os.urandom(200))
    for given in (
        Credentials(authority=nothing),
        Credentials(authority=random),
        Credentials(None, ours.certificate, one.key, other.certificate),
        Credentials(None, ours.certificate, random, one.certificate),
    ):
        with pytest.raises(CannotRunError, match=r"\.(pem|crt)") as raised:
            SessionClient("127.0.0.1:1", given)
        assert str(raised.value).isprintable()
    access = Access(key=random, certificate=one.certificate)
    with (
        running(None) as service,
        pytest.raises(CannotRunError, match=r"random\.pem"),
        serving(service, "127.0.0.1:0", access),
    ):
        pass
