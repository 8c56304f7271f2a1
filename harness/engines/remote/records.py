"""What goes over the wire, as plain records: both sides speak in these, and only their edges know gRPC."""

from dataclasses import dataclass
from typing import Literal, get_args

from harness.base.errors import CannotRunError
from harness.engines.base import Block, SessionCounts

Status = Literal[
    "OK",
    "CANCELLED",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "UNIMPLEMENTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "INTERNAL",
    "UNKNOWN",
]
"""Status codes of gRPC (grpc.StatusCode) that a call can end with here."""
Stop = Literal["MAX_TOKENS", "EOS", "CANCELLED", "TRUNCATED"]
"""Why a generation ended: its limit, a stop token, its client, or the longest history that the server allows."""
STATUSES: tuple[str, ...] = get_args(Status)


class RefusedError(CannotRunError):
    """A call that was refused, with its status code; the message is one line."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status: Status = status


@dataclass(frozen=True)
class Sampling:
    """How a client wants tokens to be chosen; what it leaves out is greedy."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None

    def fault(self) -> str | None:
        """Which of them is not greedy; none if all are."""
        wanted = (("temperature", self.temperature, 0), ("top_p", self.top_p, 1), ("top_k", self.top_k, 1))
        for name, value, greedy in wanted:
            if value is not None and value != greedy:
                return f"{name}: {value:g} is not greedy decoding; this service decodes greedily, leave it out"
        return None


@dataclass(frozen=True)
class Appended:
    """The history after an append; `prefill_s` are the engine's own seconds, `stats` since the session began.

    `next_token` is what a generation would emit first; none from a server that does not tell.
    """

    history_length: int
    prefill_s: float
    stats: SessionCounts
    next_token: int | None


@dataclass(frozen=True)
class Truncated:
    """The first frame of a generation whose bounded cache lost the own K/V of `dropped` positions."""

    dropped: int


@dataclass(frozen=True)
class Done:
    """The last frame: why it ended, how many tokens, what it took and holds.

    `prefill_s` were spent reading since the generation before, `decode_s` decoding, both without the turns of other
    sessions; `total_s` are from call to here.
    """

    stop: Stop
    tokens: int
    prefill_s: float
    decode_s: float
    total_s: float
    stats: SessionCounts


Frame = Truncated | Block | Done


@dataclass(frozen=True)
class SessionInfo:
    """Where a session stands; `next_position` is the cache's, `digest` is of the history (`harness.remote.history`)."""

    history_length: int
    next_position: int
    kv_bytes: int | None
    digest: str
    last_stop: Stop | None
    label: str
