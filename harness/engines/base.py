"""The protocol every engine follows, free of tensors.

The flow of one row: `prefill(tokens) -> Session` ends when the first token is known; `decode(session, limit)` yields
blocks of tokens until the limit or a stop token; `stats(session)` tells what was counted on the way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from harness.base.errors import UsageError
from harness.engines.architecture import Architecture
from reports.engines import Backend, EngineKind
from reports.records.measurement import DrafterInfo, Restoration, RoundTrip, ServedBy, StopReason
from reports.records.provenance import ModelInfo


@dataclass(frozen=True)
class DecodeLimit:
    """When to stop: after `max_new_tokens` in all (the first from prefill counts), or at one of `stop_tokens`.

    A stop token is emitted, then the stream ends. `stop_tokens` maps each id to the reason it stands for.
    """

    max_new_tokens: int
    stop_tokens: dict[int, StopReason]

    def check(self) -> None:
        """Refuse a limit that does not even allow the first token.

        Raises:
            UsageError: `max_new_tokens` under 1.
        """
        if self.max_new_tokens < 1:
            raise UsageError(f"max_new_tokens: {self.max_new_tokens} leaves no room for the first token; use 1 or more")


@dataclass(frozen=True)
class Block:
    """Tokens committed together. For a step-by-step engine one token, nothing drafted and no stage seconds.

    `accepted` drafts were emitted; with the verifier's own token they make up `tokens`, unless a stop token cut them
    short. `seconds` runs from the end of the block before to the end of this one, so that they add up to the decoding.
    """

    tokens: tuple[int, ...]
    drafted: int = 0
    accepted: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0
    extend_s: float = 0.0
    rollback_s: float = 0.0
    seconds: float = 0.0


class LoadedVerifier(Protocol):
    """A verifier as a runtime loaded it, and the folder it came from, if any. The engines of that runtime know more."""

    @property
    def folder(self) -> Path | None: ...

    @property
    def backend(self) -> Backend: ...

    @property
    def architecture(self) -> Architecture: ...

    @property
    def tokenizer(self) -> Any: ...


class Session(Protocol):
    """One prompt being decoded by one engine; `first_token` came out of prefill."""

    @property
    def first_token(self) -> int: ...


@dataclass(frozen=True)
class SessionCounts:
    """What happened in a session, counted where it happened; None for what an engine does not count.

    `restored_positions` and `evicted_positions` count (layer, position) pairs. `restoration_s` and `aux_s` are
    seconds inside `prefill` that are not prefill proper. K/V bytes are summed from the arrays now resident;
    `drafter_bytes` of them are the context of a drafter. `round_trip` is of an engine that another process runs,
    `served_tokens` what the server of another project says it generated.
    """

    restored_positions: int | None
    evicted_positions: int | None
    restoration_s: float
    aux_s: float
    kv_bytes: int | None
    fallbacks: tuple[str, ...] | None
    drafter_bytes: int = 0
    round_trip: RoundTrip | None = None
    served_tokens: int | None = None


@dataclass(frozen=True)
class SessionStats(SessionCounts):
    """The same of an engine that counts everything, as all of K3's do."""

    restored_positions: int
    evicted_positions: int
    kv_bytes: int
    fallbacks: tuple[str, ...]


@dataclass(frozen=True)
class Held:
    """What a session's cache holds: it has read `positions` tokens, of which some layer evicted `dropped`."""

    positions: int
    dropped: int


class Engine(Protocol):
    """One way to run the verifier. An engine that cannot do what it was built for raises `EngineError`."""

    @property
    def kind(self) -> EngineKind: ...

    @property
    def restoration(self) -> Restoration: ...

    @property
    def drafter(self) -> DrafterInfo | None: ...

    def prefill(self, tokens: Sequence[int]) -> Session:
        """Read the prompt in chunks; returns when the first token is known (evaluated, not just built)."""
        ...

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """Yield blocks after the first token; each block is evaluated when it is yielded."""
        ...

    def stats(self, session: Session) -> SessionCounts:
        """What was counted so far; callable after prefill and after decode. Evaluates nothing and waits for nothing:
        it is called while decode's clock runs. What is not counted withholds the claims that rest on it."""
        ...


@runtime_checkable
class ServedEngine(Engine, Protocol):
    """An engine that another process runs, which tells what it is; nothing of that was seen here."""

    @property
    def served_by(self) -> ServedBy: ...

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Models that it runs beside the verifier."""
        ...


@runtime_checkable
class AppendingEngine(Engine, Protocol):
    """An engine whose sessions go on: what is appended is read behind the K/V that are there.

    A loop may stop with its last token unread, or one step ahead of it. `held` tells which, and whoever goes on appends
    the history from there on.
    """

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read `tokens`, those of the history that the session does not hold; its `first_token` is then what follows.

        There are none where nothing was decoded, or where the loop ran ahead: what it saw there follows.

        Raises:
            EngineError: a bound depends on where the prompt ends.
        """
        ...

    def stats(self, session: Session) -> SessionStats:
        """As of any engine, with everything counted: limits of a server rest on it."""
        ...

    def held(self, session: Session) -> Held:
        """What the caches hold, as they say themselves.

        Raises:
            EngineError: layers hold different numbers of positions.
        """
        ...
