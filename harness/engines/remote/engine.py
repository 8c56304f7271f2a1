"""The engine `remote`: what another process runs, measured through the session protocol by the client's own clocks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from harness.base.clock import now
from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, LoadedVerifier, Session, SessionCounts
from harness.engines.remote.client import SessionClient
from harness.engines.remote.credentials import credentials_of
from harness.engines.remote.description import Described
from harness.engines.remote.records import Done, RefusedError, Truncated
from harness.engines.spec import RemoteSpec
from harness.models.folder.digest import weights_digest
from reports.engines import ENGINES, EngineKind
from reports.records.measurement import DrafterInfo, Restoration, RoundTrip, ServedBy
from reports.records.provenance import ModelInfo

PROTOCOL = "k3.sessions.v1"


@dataclass
class RemoteSession:
    """A session of the server; `prefill_s` and `decode_s` are seconds that the server does not account for."""

    name: str
    first_token: int
    stats: SessionCounts
    prefill_s: float
    decode_s: float = 0.0


class RemoteEngine:
    """A server of the session protocol that serves the verifier at hand. What it tells of itself stands in the arm.

    Its rows carry the engine that it says it runs, so that they are judged as that engine's.
    """

    def __init__(self, verifier: LoadedVerifier, spec: RemoteSpec) -> None:
        """Connect, ask the server what it is, and compare its verifier with the one at hand.

        Raises:
            EngineError: it is not there, has no generator, or serves another verifier.
            CannotRunError: the token or a certificate cannot be read.
        """
        self._address = spec.address
        self._client = SessionClient(spec.address, credentials_of(spec), spec.timeout_s)
        self._open: str | None = None
        with self._calling():
            self._told = self._client.describe()
        self.kind = _kind_of(self._told, spec.address)
        _check_verifier(verifier, self._told, spec.address)
        self._vocabulary = verifier.architecture.vocab

    @property
    def restoration(self) -> Restoration:
        """As the server tells."""
        return self._told.restoration or Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo | None:
        """As the server tells."""
        return self._told.drafter

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Models of the server beside the verifier."""
        return tuple(model for model in self._told.models if model.role != "verifier")

    @property
    def served_by(self) -> ServedBy:
        """Device, packages and plug-ins, as the server tells."""
        told = self._told
        plugins = told.plugins or None
        return ServedBy(protocol=PROTOCOL, device=told.device, packages=told.packages, plugins=plugins)

    def prefill(self, tokens: Sequence[int]) -> RemoteSession:
        """A new session with the prompt in it. It ends when the first token has come.

        Raises:
            EngineError: the server refuses, is gone, does not tell the token, or tells what cannot be.
        """
        began = now()
        with self._calling():
            if self._open is not None:
                self._client.close_session(self._open)
            self._open = name = self._client.create("k3", hold=True)
            done = self._client.append(name, tokens)
        if done.next_token is None:
            raise EngineError("the server does not tell the first token, so its prefill cannot be timed")
        self._check_tokens((done.next_token,))
        return RemoteSession(name, done.next_token, done.stats, now() - began - done.prefill_s)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """Blocks after the first token, as they come; their stages and seconds are the server's own.

        Raises:
            EngineError: the server refuses, is gone, sends other tokens than it was asked for, or tells what cannot be.
        """
        own, began, decoded, told, first, room = _own(session), now(), 0.0, 0.0, True, limit.max_new_tokens
        with self._calling():
            for frame in self._client.generate(own.name, limit.max_new_tokens, stop_tokens=list(limit.stop_tokens)):
                if isinstance(frame, Block):
                    room -= len(frame.tokens)
                    if room < 0:
                        raise EngineError(f"the server sent more than the {limit.max_new_tokens} tokens asked for")
                    self._check_tokens(frame.tokens)
                match frame:
                    case Block() if first:
                        if frame.tokens != (own.first_token,):
                            raise EngineError(f"the server said {own.first_token} follows, and emitted {frame.tokens}")
                        first = False
                    case Block():
                        decoded += frame.seconds
                        yield frame
                    case Done():
                        own.stats, told = frame.stats, frame.decode_s
                    case Truncated():
                        pass
        own.decode_s = now() - began - (decoded or told)

    def _check_tokens(self, tokens: Sequence[int]) -> None:
        """Raises: EngineError: there are none, or one of them is none of the verifier's."""
        if not tokens:
            raise EngineError("the server sent a block without tokens")
        if max(tokens) >= self._vocabulary:
            raise EngineError(f"the server sent token {max(tokens)}, and the verifier has {self._vocabulary}")

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """What a call is refused with, as the error of this engine, with the address and the status."""
        try:
            yield
        except RefusedError as error:
            raise EngineError(f"remote.address {self._address}: {error} ({error.status})") from error

    def stats(self, session: Session) -> SessionCounts:
        """What the server counted, and what messages took."""
        own = _own(session)
        return replace(own.stats, round_trip=RoundTrip(prefill_s=own.prefill_s, decode_s=own.decode_s))


def _own(session: Session) -> RemoteSession:
    if not isinstance(session, RemoteSession):
        raise EngineError("remote was given a session of another engine")
    return session


def _kind_of(told: Described, address: str) -> EngineKind:
    """The engine that the server says it runs; one that K3 does not know is what the server says it does."""
    if told.engine is None:
        raise EngineError(f"remote.address {address}: a service without generator; start it with a model and an engine")
    restoration = told.restoration
    bounds = restoration is not None and restoration.mode != "none"
    said = EngineKind(told.engine, told.decode_loop or "", drafts=told.drafter is not None, bounds=bounds)
    return ENGINES.get(told.engine, said)


def _check_verifier(verifier: LoadedVerifier, told: Described, address: str) -> None:
    """Tokens of another model are no work of this one, and no audit of them means anything."""
    theirs = next((model.weights for model in told.models if model.role == "verifier"), None)
    ours = weights_digest(verifier.folder) if verifier.folder is not None else None
    if theirs is None or theirs != ours:
        shown = (theirs or "of unknown digest")[:19], (ours or "of unknown digest")[:19]
        raise EngineError(f"remote.address {address}: serves weights {shown[0]}, the verifier's are {shown[1]}")
