"""Between the protocol's messages and plain records. Everything here is pure."""

import re
from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from harness.engines import base
from harness.engines.base import SessionCounts
from harness.engines.remote import sessions_pb2 as wire
from harness.engines.remote.records import Appended, Done, Frame, RefusedError, SessionInfo, Stop, Truncated
from reports.records.record import Record

STOPS: dict[Stop, wire.StopReason.ValueType] = {
    "MAX_TOKENS": wire.MAX_TOKENS,
    "EOS": wire.EOS,
    "CANCELLED": wire.CANCELLED,
    "TRUNCATED": wire.TRUNCATED,
}
_STOP_NAMES = {value: name for name, value in STOPS.items()}
MOST = {
    FieldDescriptor.CPPTYPE_DOUBLE: 1e6,
    FieldDescriptor.CPPTYPE_UINT32: 2**31,
    FieldDescriptor.CPPTYPE_UINT64: 2**53,
}
"""What a server may tell at most: eleven days, the last token id and the most bytes that a report holds."""


def check(message: Message) -> None:
    """Hold the figures of a server to what can be.

    Raises:
        RefusedError: seconds that are no number, negative or endless, or a count that no report can hold.
    """
    for field, value in message.ListFields():
        most = MOST.get(field.cpp_type)
        for one in value if field.is_repeated else (value,):
            if isinstance(one, Message):
                check(one)
            elif most is not None and not 0 <= one <= most:
                raise RefusedError("UNKNOWN", f"the server told {field.name} {one:g}; 0 to {most:g} can be")


def counted(stats: SessionCounts) -> wire.Counted:
    """What an engine counted; what it does not count is left out."""
    return wire.Counted(
        restored_positions=stats.restored_positions,
        evicted_positions=stats.evicted_positions,
        restoration_seconds=stats.restoration_s,
        aux_seconds=stats.aux_s,
        kv_bytes=stats.kv_bytes,
        drafter_bytes=stats.drafter_bytes,
        fallbacks=stats.fallbacks or (),
        fallback_count=len(stats.fallbacks) if stats.fallbacks is not None else None,
    )


def stats_of(message: wire.Counted) -> SessionCounts:
    """The same, back."""
    return SessionCounts(
        restored_positions=_given(message, "restored_positions"),
        evicted_positions=_given(message, "evicted_positions"),
        restoration_s=message.restoration_seconds,
        aux_s=message.aux_seconds,
        kv_bytes=_given(message, "kv_bytes"),
        fallbacks=tuple(message.fallbacks) if message.HasField("fallback_count") else None,
        drafter_bytes=message.drafter_bytes,
    )


def _given(message: Message, field: str) -> int | None:
    """A count; None where it was left out."""
    return int(getattr(message, field)) if message.HasField(field) else None


def appended(done: Appended) -> wire.AppendTokensResponse:
    """What an append came to."""
    return wire.AppendTokensResponse(
        history_length=done.history_length,
        prefill_seconds=done.prefill_s,
        counted=counted(done.stats),
        next_token=done.next_token,
    )


def appended_of(message: wire.AppendTokensResponse) -> Appended:
    """The same, back.

    Raises:
        RefusedError: as `check`.
    """
    check(message)
    counts, following = stats_of(message.counted), _given(message, "next_token")
    return Appended(message.history_length, message.prefill_seconds, counts, following)


def frame(one: Frame) -> wire.GenerateFrame:
    """A frame of a generation."""
    match one:
        case Truncated(dropped=dropped):
            return wire.GenerateFrame(truncated=wire.Truncated(dropped=dropped))
        case Done():
            return wire.GenerateFrame(
                done=wire.Done(
                    stop_reason=STOPS[one.stop],
                    tokens=one.tokens,
                    prefill_seconds=one.prefill_s,
                    total_seconds=one.total_s,
                    decode_seconds=one.decode_s,
                    counted=counted(one.stats),
                )
            )
    return wire.GenerateFrame(
        block=wire.Block(
            token_ids=one.tokens,
            drafted=one.drafted,
            accepted=one.accepted,
            draft_seconds=one.draft_s,
            verify_seconds=one.verify_s,
            extend_seconds=one.extend_s,
            rollback_seconds=one.rollback_s,
            seconds=one.seconds,
        )
    )


def frame_of(message: wire.GenerateFrame) -> Frame | None:
    """The same, back; None for a frame without anything that is known.

    Raises:
        RefusedError: as `check`.
    """
    check(message)
    match message.WhichOneof("frame"):
        case "truncated":
            return Truncated(message.truncated.dropped)
        case "done":
            done = message.done
            stop = _STOP_NAMES.get(done.stop_reason)
            if stop is None:
                return None
            return Done(
                stop,
                done.tokens,
                done.prefill_seconds,
                done.decode_seconds,
                done.total_seconds,
                stats_of(done.counted),
            )
        case "block":
            block = message.block
            return base.Block(
                tokens=tuple(block.token_ids),
                drafted=block.drafted,
                accepted=block.accepted,
                draft_s=block.draft_seconds,
                verify_s=block.verify_seconds,
                extend_s=block.extend_seconds,
                rollback_s=block.rollback_seconds,
                seconds=block.seconds,
            )
    return None


def info(told: SessionInfo) -> wire.GetSessionInfoResponse:
    """Where a session stands."""
    return wire.GetSessionInfoResponse(
        history_length=told.history_length,
        next_position=told.next_position,
        kv_bytes=told.kv_bytes,
        history_digest=told.digest,
        last_stop_reason=STOPS[told.last_stop] if told.last_stop is not None else None,
        label=told.label,
    )


def info_of(message: wire.GetSessionInfoResponse) -> SessionInfo:
    """The same, back.

    Raises:
        RefusedError: as `check`, or what stands for the digest is none.
    """
    check(message)
    if not re.fullmatch("[0-9a-f]{64}", message.history_digest):
        raise RefusedError("UNKNOWN", "the server told a history_digest that is not 64 hex digits")
    return SessionInfo(
        history_length=message.history_length,
        next_position=message.next_position,
        kv_bytes=_given(message, "kv_bytes"),
        digest=message.history_digest,
        last_stop=_STOP_NAMES.get(message.last_stop_reason) if message.HasField("last_stop_reason") else None,
        label=message.label,
    )


def fill(message: Message, record: Record) -> None:
    """The fields of `record` that `message` has by the same names; what was not recorded is left out."""
    known = set(message.DESCRIPTOR.fields_by_name)
    values = {name: value for name, value in record.model_dump(mode="json", exclude_none=True).items() if name in known}
    ParseDict(values, message, ignore_unknown_fields=True)


def told(messages: Message | Sequence[Message]) -> Any:
    """A message or several as plain values, to be validated as a record."""
    if isinstance(messages, Message):
        return MessageToDict(messages, preserving_proto_field_name=True)
    return [told(message) for message in messages]
