"""The session service: what the protocol says, over K3's engines, without gRPC.

Every method checks its arguments, then hands the work to the device thread. What is refused changes nothing.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from harness.base.clock import now
from harness.engines.base import AppendingEngine
from harness.engines.remote.description import Described
from harness.engines.remote.records import Appended, Frame, RefusedError, Sampling, SessionInfo
from harness.remote.call import Call
from harness.remote.determinism import SeenTokens
from harness.remote.device_thread import DeviceThread
from harness.remote.limits import Limits
from harness.remote.session import BareSession, ServedSession

CHUNK = 512
"""Tokens read in one turn: what an engine's prefill reads at once, so that a long append holds nobody up for longer."""
NO_GENERATOR = RefusedError("UNIMPLEMENTED", "this service has no generator; start it with a model and an engine")


@dataclass(frozen=True)
class Served:
    """An engine, and what is told of it."""

    engine: AppendingEngine
    described: Described


class SessionService:
    """Sessions by id. Without `served` there is no generator: sessions can be made and nothing can be read."""

    def __init__(self, served: Served | None, limits: Limits, device: DeviceThread | None = None) -> None:
        self.limits = limits
        self.seen = SeenTokens()
        self.device = device or DeviceThread()
        self.device.tick = self._look_after
        self._served = served
        self._sessions: dict[str, ServedSession | BareSession] = {}
        self._held: set[str] = set()
        self._lock = Lock()

    def describe(self) -> Described:
        """What is served."""
        return Described(vocabulary=0) if self._served is None else self._served.described

    def create(self, label: str, stop_tokens: Sequence[int]) -> str:
        """A new session; its id.

        Raises:
            RefusedError: a label or stop tokens that cannot be, or too many sessions.
        """
        if len(label) > self.limits.label_length:
            raise RefusedError("INVALID_ARGUMENT", f"label: {len(label)} characters, {self.limits.label_length} may be")
        self._check_stops(stop_tokens)
        session: ServedSession | BareSession = BareSession()
        if self._served is not None:
            session = ServedSession(self._served.engine, self.seen, self._full, label, stop_tokens)
        with self._lock:
            if len(self._sessions) >= self.limits.sessions:
                message = f"{len(self._sessions)} sessions are open, as many as may be; close one"
                raise RefusedError("RESOURCE_EXHAUSTED", message)
            name = secrets.token_urlsafe(24)
            self._sessions[name] = session
        return name

    def append(self, name: str, tokens: Sequence[int]) -> Call[Appended]:
        """Add tokens to the history and read them.

        Raises:
            RefusedError: an unknown session, no tokens or one outside the vocabulary, too many tokens, bytes or calls.
        """
        session, served = self._generating(name)
        if not tokens:
            raise RefusedError("INVALID_ARGUMENT", "token_ids: there are none; append at least one")
        self._check_tokens("token_ids", tokens, served)
        return self.device.submit(name, self._append(session, tokens), self.limits.waiting)

    def generate(self, name: str, max_tokens: int, sampling: Sampling, stop_tokens: Sequence[int] = ()) -> Call[Frame]:
        """Go on from the history; iterate for frames.

        Raises:
            RefusedError: an unknown session, no tokens wanted, a sampling that is not greedy, or too many calls.
        """
        session, _ = self._generating(name)
        if not 1 <= max_tokens <= self.limits.history_tokens:
            message = f"max_tokens: {max_tokens} is not from 1 to {self.limits.history_tokens}"
            raise RefusedError("INVALID_ARGUMENT", message)
        fault = sampling.fault()
        if fault is not None:
            raise RefusedError("INVALID_ARGUMENT", fault)
        self._check_stops(stop_tokens)
        work = session.generate(max_tokens, stop_tokens, self.limits.history_tokens, CHUNK)
        return self.device.submit(name, work, self.limits.waiting)

    def info(self, name: str) -> SessionInfo:
        """Where a session stands; it waits for no call of the session but for the turns under way.

        Raises: RefusedError: an unknown session, a broken invariant, or no generator.
        """
        session, _ = self._generating(name)
        return self.device.run(f"info {name}", session.info())

    def exists(self, name: str) -> bool:
        """Whether the session is open."""
        return name in self._sessions

    def hold(self, name: str) -> None:
        """Take note that a client holds the session and will close it.

        Raises:
            RefusedError: an unknown session, or one that is held already.
        """
        with self._lock:
            if name not in self._sessions:
                raise _unknown()
            if name in self._held:
                raise RefusedError("FAILED_PRECONDITION", "this session is held already; a session has one holder")
            self._held.add(name)

    def close(self, name: str) -> None:
        """Free a session; its calls are cancelled.

        Raises: RefusedError: an unknown session.
        """
        with self._lock:
            if name not in self._sessions:
                raise _unknown()
            del self._sessions[name]
            self._held.discard(name)
        self.device.cancel(name)

    def close_idle(self) -> None:
        """Free sessions that nobody has called for too long."""
        least = now() - self.limits.idle_seconds
        for name, session in list(self._sessions.items()):
            if session.last_call < least and not self.device.busy(name):
                with suppress(RefusedError):  # its client was faster
                    self.close(name)

    def kv_bytes(self) -> int:
        """Bytes that all sessions hold, of an engine that counts them."""
        return sum(session.stats.kv_bytes or 0 for session in list(self._sessions.values()))

    def stop(self) -> None:
        """End the device thread; what waits is refused."""
        self.device.stop()

    def _append(self, session: ServedSession, tokens: Sequence[int]) -> Iterator[Appended | None]:
        """Look at what is there when the turn has come, since calls of this session before it change that."""
        if len(session.history) + len(tokens) > self.limits.history_tokens:
            message = (
                f"a history of {len(session.history)} and {len(tokens)} tokens; {self.limits.history_tokens} may be"
            )
            raise RefusedError("RESOURCE_EXHAUSTED", message)
        fault = self._full()
        if fault is not None:
            raise RefusedError("RESOURCE_EXHAUSTED", fault)
        yield from session.append(tokens, CHUNK)

    def _full(self) -> str | None:
        """Why no session may hold more, if so."""
        held = self.kv_bytes()
        if held < self.limits.kv_bytes:
            return None
        return f"all sessions hold {held} bytes of K/V; {self.limits.kv_bytes} may be; close one"

    def _look_after(self) -> None:
        """What the device thread does between turns, about once a second."""
        self.close_idle()
        self.device.end_unread(now() - self.limits.unread_seconds)

    def _generating(self, name: str) -> tuple[ServedSession, Served]:
        if self._served is None:
            raise NO_GENERATOR
        session = self._sessions.get(name)
        if not isinstance(session, ServedSession):
            raise _unknown()
        return session, self._served

    def _check_stops(self, stop_tokens: Sequence[int]) -> None:
        if len(stop_tokens) > self.limits.stop_tokens:
            message = f"stop_token_ids: {len(stop_tokens)} of them; {self.limits.stop_tokens} may be"
            raise RefusedError("INVALID_ARGUMENT", message)
        if self._served is not None:
            self._check_tokens("stop_token_ids", stop_tokens, self._served)

    def _check_tokens(self, field: str, tokens: Sequence[int], served: Served) -> None:
        vocabulary = served.described.vocabulary
        outside = next((token for token in tokens if not 0 <= token < vocabulary), None)
        if outside is not None:
            raise RefusedError("INVALID_ARGUMENT", f"{field}: {outside} is none of the {vocabulary} tokens")


def _unknown() -> RefusedError:
    """Not a word about the id: what it is not is nobody's business."""
    return RefusedError("NOT_FOUND", "no such session; it was never made, was closed, or ended with the server")
