"""A client of the session protocol, in plain records. A call that ends with a status other than OK raises it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from harness.engines.remote import messages
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.description import Described, from_wire
from harness.engines.remote.records import (
    STATUSES,
    Appended,
    Frame,
    RefusedError,
    Sampling,
    SessionInfo,
    Status,
)
from harness.engines.remote.stub import SessionsStub

LARGEST_MESSAGE = 16 * 2**20
GREEDY = Sampling()


@dataclass(frozen=True)
class Credentials:
    """What a server may want: its token, and PEM files for mTLS, all three or none."""

    token: str | None = None
    authority: Path | None = None
    key: Path | None = None
    certificate: Path | None = None


class SessionClient:
    """Calls of one server. Closing it leaves sessions as they are, except those that it holds."""

    def __init__(self, address: str, credentials: Credentials | None = None, deadline_s: float | None = None) -> None:
        """`deadline_s` is of every call but the holding of a session."""
        given = credentials or Credentials()
        options = [("grpc.max_receive_message_length", LARGEST_MESSAGE), ("grpc.enable_retries", 0)]
        if given.authority is not None and given.key is not None and given.certificate is not None:
            proof = grpc.ssl_channel_credentials(
                given.authority.read_bytes(), given.key.read_bytes(), given.certificate.read_bytes()
            )
            self._channel = grpc.secure_channel(address, proof, options)
        else:
            self._channel = grpc.insecure_channel(address, options)
        self._stub = SessionsStub(self._channel)
        self._metadata = (("authorization", f"Bearer {given.token}"),) if given.token is not None else ()
        self._deadline_s = deadline_s
        self._holds: dict[str, Any] = {}

    def close(self) -> None:
        """End the connection."""
        for hold in self._holds.values():
            hold.cancel()
        self._channel.close()

    def describe(self) -> Described:
        """What the server tells of itself."""
        with _told():
            message = self._stub.describe(wire.DescribeRequest(), **self._options())
        return from_wire(message)

    def create(self, label: str = "", stop_tokens: Sequence[int] = (), hold: bool = False) -> str:
        """A new session; held, it is closed when this client is gone, however it went."""
        with _told():
            request = wire.CreateSessionRequest(label=label, stop_token_ids=stop_tokens)
            name = self._stub.create_session(request, **self._options()).session_id
            if hold:
                stream = self._stub.hold_session(wire.HoldSessionRequest(session_id=name), metadata=self._metadata)
                next(stream)
                self._holds[name] = stream
        return name

    def append(self, name: str, tokens: Sequence[int], deadline_s: float | None = None) -> Appended:
        """Have tokens read."""
        with _told():
            request = wire.AppendTokensRequest(session_id=name, token_ids=tokens)
            return messages.appended_of(self._stub.append_tokens(request, **self._options(deadline_s)))

    def generate(
        self,
        name: str,
        max_tokens: int,
        sampling: Sampling = GREEDY,
        stop_tokens: Sequence[int] = (),
        deadline_s: float | None = None,
    ) -> Iterator[Frame]:
        """Frames of a generation; closing the iterator cancels it.

        Raises:
            RefusedError: while it is iterated, too; a frame that nobody knows is UNKNOWN.
        """
        request = wire.GenerateRequest(
            session_id=name,
            max_tokens=max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            stop_token_ids=stop_tokens,
        )
        with _told():
            stream = self._stub.generate(request, **self._options(deadline_s))
            try:
                for message in stream:
                    frame = messages.frame_of(message)
                    if frame is None:
                        raise RefusedError("UNKNOWN", "the server sent a frame that is no part of the protocol")
                    yield frame
            finally:
                stream.cancel()

    def info(self, name: str) -> SessionInfo:
        """Where a session stands."""
        with _told():
            request = wire.GetSessionInfoRequest(session_id=name)
            return messages.info_of(self._stub.session_info(request, **self._options()))

    def close_session(self, name: str) -> None:
        """Free a session."""
        with _told():
            self._stub.close_session(wire.CloseSessionRequest(session_id=name), **self._options())
        hold = self._holds.pop(name, None)
        if hold is not None:
            hold.cancel()

    def _options(self, deadline_s: float | None = None) -> dict[str, Any]:
        return {"metadata": self._metadata, "timeout": deadline_s if deadline_s is not None else self._deadline_s}


@contextmanager
def _told() -> Iterator[None]:
    """A status code as the error that carries it."""
    try:
        yield
    except grpc.RpcError as error:
        code = error.code().name if isinstance(error, grpc.Call) else "UNKNOWN"
        status: Status = code if code in STATUSES else "UNKNOWN"  # type: ignore[assignment]
        details = error.details() if isinstance(error, grpc.Call) else None
        raise RefusedError(status, details or code) from error
