"""The stub calls every method of the service, each as the .proto file describes it."""

from typing import Any

from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.stub import SERVICE, SessionsStub

Call = tuple[str, bool, Any, Any]
"""Path, whether it streams, and how a request is written and an answer read."""


class Paths:
    """A channel that only notes what it is asked to call."""

    def unary_unary(self, path: str, write: Any, read: Any) -> Call:
        return path, False, write, read

    def unary_stream(self, path: str, write: Any, read: Any) -> Call:
        return path, True, write, read


def test_every_method_is_called_as_it_is_described() -> None:
    calls: dict[str, Call] = {call[0]: call for call in vars(SessionsStub(Paths())).values()}  # type: ignore[arg-type]
    assert set(calls) == {f"/k3.sessions.v1.Sessions/{method.name}" for method in SERVICE.methods}
    for method in SERVICE.methods:
        _, streams, write, read = calls[f"/{SERVICE.full_name}/{method.name}"]
        asked, given = getattr(wire, method.input_type.name), getattr(wire, method.output_type.name)
        assert (streams, write, read) == (method.server_streaming, asked.SerializeToString, given.FromString)
