"""The calls of the session protocol over a channel, by the service that sessions.proto describes.

gRPC's own compiler would write them, too, untyped and beside a servicer whose methods do nothing but raise.
"""

from typing import TypeVar

import grpc
from google.protobuf.message import Message

from harness.engines.remote import sessions_pb2 as wire

SERVICE = wire.DESCRIPTOR.services_by_name["Sessions"]

Asked = TypeVar("Asked", bound=Message)
Given = TypeVar("Given", bound=Message)


class SessionsStub:
    """A callable a method; those that stream give an iterator of messages."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.create_session = _one(channel, wire.CreateSessionRequest, wire.CreateSessionResponse)
        self.append_tokens = _one(channel, wire.AppendTokensRequest, wire.AppendTokensResponse)
        self.generate = _many(channel, wire.GenerateRequest, wire.GenerateFrame)
        self.close_session = _one(channel, wire.CloseSessionRequest, wire.CloseSessionResponse)
        self.session_info = _one(channel, wire.GetSessionInfoRequest, wire.GetSessionInfoResponse)
        self.describe = _one(channel, wire.DescribeRequest, wire.DescribeResponse)
        self.hold_session = _many(channel, wire.HoldSessionRequest, wire.HoldSessionFrame)


def _one(channel: grpc.Channel, asked: type[Asked], given: type[Given]) -> "grpc.UnaryUnaryMultiCallable[Asked, Given]":
    return channel.unary_unary(_path(asked), asked.SerializeToString, given.FromString)


def _many(
    channel: grpc.Channel, asked: type[Asked], given: type[Given]
) -> "grpc.UnaryStreamMultiCallable[Asked, Given]":
    return channel.unary_stream(_path(asked), asked.SerializeToString, given.FromString)


def _path(asked: type[Message]) -> str:
    """A method's request bears its name."""
    return f"/{SERVICE.full_name}/{asked.DESCRIPTOR.name.removesuffix('Request')}"
