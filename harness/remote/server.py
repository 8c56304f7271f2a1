"""A gRPC server around the service: where it listens, who may call, and how it ends."""

import hmac
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from harness.base.errors import CannotRunError, UsageError
from harness.engines.remote.credentials import read_pem, tls_context
from harness.engines.remote.stub import SERVICE
from harness.engines.spec import host_and_port, is_loopback
from harness.remote.service import SessionService
from harness.remote.servicer import Servicer, handlers

GRACE_S, LEAVE_S = 2.0, 5.0
"""Seconds that calls get to end by themselves, and to leave once they were cancelled."""
SPARE_THREADS = 32
"""Beside one for each session that is held and one for each that generates."""


@dataclass(frozen=True)
class Access:
    """Who may call: whoever has the token, and a certificate of the authority that `client_ca` names (mTLS).

    `key` and `certificate` are PEM files of the server's own, both or none; with them the connection is TLS.
    """

    token: str | None = field(default=None, repr=False)
    key: Path | None = None
    certificate: Path | None = None
    client_ca: Path | None = None


def check_address(address: str, access: Access) -> None:
    """Refuse an address that others reach, unless calls are authenticated.

    Raises:
        UsageError: it is no HOST:PORT, or not of this machine and open to everybody.
    """
    place = host_and_port(address)
    if place is None:
        raise UsageError(f"--address {address!r}: give HOST:PORT, for example 127.0.0.1:50051 (port 0: any free one)")
    if (access.key is None) != (access.certificate is None):
        raise UsageError("--tls-key and --tls-certificate come together: TLS needs both")
    if access.client_ca is not None and access.key is None:
        raise UsageError("--tls-client-ca needs --tls-key and --tls-certificate: mTLS is of both sides")
    if not is_loopback(place[0]) and access.token is None and access.client_ca is None:
        raise UsageError(f"--address {address}: others reach it; give --token-file or --tls-client-ca")


@contextmanager
def serving(service: SessionService, address: str, access: Access | None = None) -> Iterator[str]:
    """A running server; yields the address it listens at, with the port it got. It ends with the context.

    Raises:
        UsageError: as `check_address`. CannotRunError: a certificate cannot be read, or the address is taken.
    """
    access = access or Access()
    check_address(address, access)
    limits = service.limits
    server = grpc.server(
        ThreadPoolExecutor(2 * limits.sessions + SPARE_THREADS, thread_name_prefix="k3-call"),
        interceptors=[TokenCheck(access.token)] if access.token is not None else [],
        options=[
            ("grpc.max_receive_message_length", limits.message_bytes),
            ("grpc.max_metadata_size", 16 * 1024),
            ("grpc.so_reuseport", 0),
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.keepalive_permit_without_calls", 1),
        ],
        maximum_concurrent_rpcs=2 * limits.sessions + SPARE_THREADS,
    )
    server.add_generic_rpc_handlers((handlers(Servicer(service)),))
    states = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(states, server)
    port = _listen(server, address, access)
    server.start()
    states.set(SERVICE.full_name, health_pb2.HealthCheckResponse.SERVING)
    states.set("", health_pb2.HealthCheckResponse.SERVING)
    try:
        yield f"{address.rpartition(':')[0]}:{port}"
    finally:
        states.enter_graceful_shutdown()
        server.stop(GRACE_S).wait(GRACE_S + LEAVE_S)


def _listen(server: grpc.Server, address: str, access: Access) -> int:
    """The port that the server got."""
    try:
        proof = _proof(access)
        port = server.add_insecure_port(address) if proof is None else server.add_secure_port(address, proof)
    except RuntimeError as error:
        raise CannotRunError(f"--address {address}: cannot listen there; is it taken?") from error
    if port == 0:
        raise CannotRunError(f"--address {address}: cannot listen there; is it taken?")
    return port


def _proof(access: Access) -> grpc.ServerCredentials | None:
    """What the server proves itself by, and its clients, where it has an authority for them; none without TLS."""
    if access.key is None or access.certificate is None:
        return None
    tls_context(access.client_ca, access.key, access.certificate)
    pair = (read_pem(access.key), read_pem(access.certificate))
    authority = read_pem(access.client_ca) if access.client_ca is not None else None
    return grpc.ssl_server_credentials([pair], authority, require_client_auth=authority is not None)


class TokenCheck(grpc.ServerInterceptor):
    """Refuses calls without the token, before anything of them is read."""

    def __init__(self, token: str) -> None:
        self._wanted = f"Bearer {token}".encode()

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Compared in constant time."""
        given = dict(details.invocation_metadata).get("authorization", "")
        if hmac.compare_digest(str(given).encode(), self._wanted):
            return continuation(details)
        return _REFUSED


def _no_token(request: Any, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "this server wants its token in `authorization: Bearer TOKEN`")


_REFUSED: "grpc.RpcMethodHandler[Any, Any]" = grpc.unary_unary_rpc_method_handler(_no_token)
