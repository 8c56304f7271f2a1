"""A client of the session protocol, in plain records. A call that ends with a status other than OK raises it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import grpc

from harness.engines.remote import messages
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.credentials import Credentials
from harness.engines.remote.description import Described, from_wire
from harness.engines.remote.failures import told_failure
from harness.engines.remote.records import Appended, Frame, RefusedError, Sampling, SessionInfo
from harness.engines.remote.stub import SessionsStub
from harness.engines.spec import host_and_port, is_loopback

LARGEST_MESSAGE = 16 * 2**20
DESCRIBED_S = 20.0
"""A server answers the first question at once, whatever it decodes: one that does not is none."""
GREEDY = Sampling()


class SessionClient:
    """Calls of one server. Closing it leaves sessions as they are, except those that it holds."""

    def __init__(self, address: str, credentials: Credentials | None = None, deadline_s: float | None = None) -> None:
        """`deadline_s` is of every call; of the holding of a session, of its beginning.

        Raises:
            CannotRunError: a certificate or key cannot be read.
        """
        self._address, self._given, self._deadline_s = address, credentials or Credentials(), deadline_s
        place = host_and_port(address)
        options = [
            ("grpc.max_receive_message_length", LARGEST_MESSAGE),
            ("grpc.enable_retries", 0),
            ("grpc.enable_http_proxy", int(place is None or not is_loopback(place[0]))),
        ]
        proof = self._given.for_channel()
        if proof is not None:
            self._channel = grpc.secure_channel(address, proof, options)
        else:
            self._channel = grpc.insecure_channel(address, options)
        self._stub = SessionsStub(self._channel)
        token = self._given.token
        self._metadata = (("authorization", f"Bearer {token}"),) if token is not None else ()
        self._holds: dict[str, Any] = {}
        self._reached = False

    def close(self) -> None:
        """End the connection."""
        for hold in self._holds.values():
            hold.cancel()
        self._channel.close()

    def describe(self) -> Described:
        """What the server tells of itself."""
        least = DESCRIBED_S if self._deadline_s is None else min(DESCRIBED_S, self._deadline_s)
        with self._told(least):
            message = self._stub.describe(wire.DescribeRequest(), **self._options(least))
        return from_wire(message)

    def create(self, label: str = "", stop_tokens: Sequence[int] = (), hold: bool = False) -> str:
        """A new session; held, it is closed when this client is gone, however it went."""
        with self._told():
            request = wire.CreateSessionRequest(label=label, stop_token_ids=stop_tokens)
            name = self._stub.create_session(request, **self._options()).session_id
        if hold:
            self.hold(name)
        return name

    def hold(self, name: str) -> None:
        """Tie a session to this client: it is closed when this client is gone, however it went."""
        with self._told():
            self._holds[name] = self._hold(name)

    def _hold(self, name: str) -> Any:
        """The stream that holds a session: without a deadline, since it lasts as long as this client, once it began."""
        stream = self._stub.hold_session(wire.HoldSessionRequest(session_id=name), metadata=self._metadata)
        with ExitStack() as stack:
            if self._deadline_s is not None:
                late = threading.Timer(self._deadline_s, stream.cancel)
                late.daemon = True
                late.start()
                stack.callback(late.cancel)
            if next(stream, None) is None:
                raise RefusedError("UNKNOWN", "the server ended the holding of a session before it began")
        return stream

    def append(self, name: str, tokens: Sequence[int], deadline_s: float | None = None) -> Appended:
        """Have tokens read."""
        with self._told(deadline_s):
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
        with self._told(deadline_s):
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
        with self._told():
            request = wire.GetSessionInfoRequest(session_id=name)
            return messages.info_of(self._stub.session_info(request, **self._options()))

    def close_session(self, name: str) -> None:
        """Free a session."""
        with self._told():
            self._stub.close_session(wire.CloseSessionRequest(session_id=name), **self._options())
        hold = self._holds.pop(name, None)
        if hold is not None:
            hold.cancel()

    def _options(self, deadline_s: float | None = None) -> dict[str, Any]:
        return {"metadata": self._metadata, "timeout": deadline_s if deadline_s is not None else self._deadline_s}

    @contextmanager
    def _told(self, deadline_s: float | None = None) -> Iterator[None]:
        """A status code as the error that carries it, in words of ours where gRPC says it in its own."""
        try:
            yield
            self._reached = True
        except grpc.RpcError as error:
            within = deadline_s if deadline_s is not None else self._deadline_s
            raise told_failure(error, self._address, self._given, within, reached=self._reached) from error
