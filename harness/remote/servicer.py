"""The service at the wire: messages in, messages out, refusals as status codes. No traceback ever goes out."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

import grpc

from harness.base.errors import CannotRunError
from harness.engines.remote import messages
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.description import to_wire
from harness.engines.remote.records import RefusedError, Sampling
from harness.engines.remote.stub import SERVICE
from harness.remote.call import Call
from harness.remote.service import SessionService

LOG = logging.getLogger("k3.sessions")
T = TypeVar("T")
HELD_LOOK_S = 1.0
"""How often a held session is looked for, so that the stream ends when another call closed it."""


class Servicer:
    """Each method runs in a thread of gRPC's pool and waits there for the device thread."""

    def __init__(self, service: SessionService) -> None:
        self._service = service

    def CreateSession(  # noqa: N802
        self, request: wire.CreateSessionRequest, context: grpc.ServicerContext
    ) -> wire.CreateSessionResponse:
        """A new session."""
        name = _answer(context, lambda: self._service.create(request.label, request.stop_token_ids))
        return wire.CreateSessionResponse(session_id=name)

    def AppendTokens(  # noqa: N802
        self, request: wire.AppendTokensRequest, context: grpc.ServicerContext
    ) -> wire.AppendTokensResponse:
        """Read tokens. Whoever leaves meanwhile has appended them all the same."""

        def append() -> wire.AppendTokensResponse:
            call = self._service.append(request.session_id, request.token_ids)
            _leave_with(context, call)
            (done,) = call
            return messages.appended(done)

        return _answer(context, append)

    def Generate(  # noqa: N802
        self, request: wire.GenerateRequest, context: grpc.ServicerContext
    ) -> Iterator[wire.GenerateFrame]:
        """Frames, as the engine makes them. Deadline and cancellation are looked at between blocks."""
        sampling = Sampling(
            temperature=request.temperature if request.HasField("temperature") else None,
            top_p=request.top_p if request.HasField("top_p") else None,
            top_k=request.top_k if request.HasField("top_k") else None,
        )
        call = _answer(
            context,
            lambda: self._service.generate(request.session_id, request.max_tokens, sampling, request.stop_token_ids),
        )
        _leave_with(context, call)
        call.on_unread = context.cancel  # a thread that sends to a client which does not read waits for ever
        frames = iter(call)
        while (frame := _answer(context, lambda: next(frames, None))) is not None:
            yield messages.frame(frame)

    def CloseSession(  # noqa: N802
        self, request: wire.CloseSessionRequest, context: grpc.ServicerContext
    ) -> wire.CloseSessionResponse:
        """Free a session."""
        _answer(context, lambda: self._service.close(request.session_id))
        return wire.CloseSessionResponse()

    def GetSessionInfo(  # noqa: N802
        self, request: wire.GetSessionInfoRequest, context: grpc.ServicerContext
    ) -> wire.GetSessionInfoResponse:
        """Where a session stands."""
        return messages.info(_answer(context, lambda: self._service.info(request.session_id)))

    def Describe(  # noqa: N802
        self, request: wire.DescribeRequest, context: grpc.ServicerContext
    ) -> wire.DescribeResponse:
        """What is served, and the limits."""
        limits = wire.Limits()
        messages.fill(limits, self._service.limits)
        return _answer(context, lambda: to_wire(self._service.describe(), limits))

    def HoldSession(  # noqa: N802
        self, request: wire.HoldSessionRequest, context: grpc.ServicerContext
    ) -> Iterator[wire.HoldSessionFrame]:
        """Close the session when its client leaves, in whatever way."""
        name = request.session_id
        _answer(context, lambda: self._service.hold(name))
        left = threading.Event()
        if not context.add_callback(left.set):
            left.set()
        try:
            if not left.is_set():
                yield wire.HoldSessionFrame()
            while not left.wait(HELD_LOOK_S) and self._service.exists(name):
                pass
        finally:
            if self._service.exists(name):
                self._service.close(name)


def handlers(servicer: Servicer) -> grpc.GenericRpcHandler:
    """Every method of the service, answered by the servicer's of the same name."""
    answered = {}
    for method in SERVICE.methods:
        kind = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
        asked, given = getattr(wire, method.input_type.name), getattr(wire, method.output_type.name)
        answered[method.name] = kind(getattr(servicer, method.name), asked.FromString, given.SerializeToString)
    return grpc.method_handlers_generic_handler(SERVICE.full_name, answered)


def _leave_with(context: grpc.ServicerContext, call: Call[T]) -> None:
    """Cancel `call` when the client is gone, its deadline has passed or it cancelled; at once if it was so already."""
    if not context.add_callback(call.cancel):
        call.cancel()


def _answer(context: grpc.ServicerContext, work: Callable[[], T]) -> T:
    """What `work` gives; what it raises ends the call with a status code and one line."""
    try:
        return work()
    except RefusedError as error:
        _refuse(context, grpc.StatusCode[error.status], str(error))
    except CannotRunError as error:
        _refuse(context, grpc.StatusCode.FAILED_PRECONDITION, str(error))
    except Exception:
        LOG.exception("a call failed")
        _refuse(context, grpc.StatusCode.INTERNAL, "the server failed; its own log says where")


def _refuse(context: grpc.ServicerContext, status: grpc.StatusCode, message: str) -> NoReturn:
    context.abort(status, " ".join(message.split())[:500])
