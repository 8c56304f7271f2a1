"""The ten-step smoke: calls of a server, in order, and what it did. It writes down; it judges nothing."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from harness.base.clock import now
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.engines.remote.description import Described
from harness.engines.remote.records import Done, Frame, RefusedError, Sampling, Truncated
from harness.remote.limits import Limits
from harness.remote.server import serving
from harness.remote.service import SessionService
from reports.records.conduct.runtime_smoke import RuntimeSmoke, SmokeFrame, SmokeStep
from reports.records.constants import SMOKE_STEPS
from reports.restorations import RESTORATIONS

SHORT, ASKED, TO_STOP = 24, 3, 16
"""Tokens of the short history, tokens asked for, and tokens asked for where a stop token must come first."""
BEYOND = 200
"""Tokens of the long history beyond sink and window; of an engine that keeps everything, in all."""


class Smoke:
    """The state of one smoke: the client, the sessions it made, the steps it took."""

    def __init__(self, client: SessionClient, vocabulary: int) -> None:
        self._client, self._vocabulary = client, vocabulary
        self.steps: list[SmokeStep] = []

    def run(self, bound: int) -> None:
        """The nine steps of a server with a generator; `bound` is sink + window, 0 of one that keeps everything."""
        client, short = self._client, self._tokens(SHORT)
        session = ""

        def create() -> None:
            nonlocal session
            session = client.create("smoke")

        self._call("create", create)
        self._call("append", lambda: client.append(session, short), appends=1)
        stream = self._generate("generate", session, ASKED, appends=1)
        split = self._opened("smoke, token by token", *([token] for token in short))
        stop = stream[-1] if stream else 0
        self._generate("generate_to_stop", split, TO_STOP, appends=SHORT, stop=stop)
        self._generate("generate_before_append", self._opened("smoke, nothing appended"), ASKED)
        self._generate("generate_nothing", session, 0)
        self._generate("generate_sampled", session, ASKED, sampling=Sampling(temperature=0.7))
        self._generate("unknown_session", "no-such-session", ASKED)
        long = self._opened("smoke, long", self._tokens(bound + BEYOND))
        self._generate("generate_truncated", long, ASKED, appends=1)

    def without_generator(self) -> None:
        """The tenth step: the same service, and nothing in it that generates."""
        service = SessionService(None, Limits())
        try:
            with serving(service, "127.0.0.1:0") as address:
                beside = Smoke(SessionClient(address), 0)
                beside._generate("no_generator", beside._opened("smoke"), ASKED)
                beside._client.close()
        finally:
            service.stop()
        self.steps += beside.steps

    def _opened(self, label: str, *appends: list[int]) -> str:
        """A session for a step to come; where the server refuses it, that step shows it."""
        session = ""
        with suppress(RefusedError):
            session = self._client.create(label)
            for tokens in appends:
                self._client.append(session, tokens)
        return session

    def _tokens(self, count: int) -> list[int]:
        """Ids that walk through the vocabulary without repeating soon; a server knows no text."""
        return [3 + (7 * place) % max(1, self._vocabulary - 3) for place in range(count)]

    def _generate(
        self,
        step: str,
        session: str,
        max_tokens: int,
        appends: int | None = None,
        sampling: Sampling | None = None,
        stop: int | None = None,
    ) -> list[int]:
        """One generation, with what the server says of the history before it; the tokens it emitted."""
        frames: list[Frame] = []
        told = self._history(session)

        def generate() -> None:
            stops = [stop] if stop is not None else []
            frames.extend(self._client.generate(session, max_tokens, sampling or Sampling(), stops))

        self._call(step, generate, frames, **told | {"max_tokens": max_tokens, "stop_token": stop, "appends": appends})
        return [token for frame in frames if isinstance(frame, Block) for token in frame.tokens]

    def _call(self, step: str, call: Callable[[], object], frames: Sequence[Frame] = (), **told: object) -> None:
        """Make a call, and write down how it ended and how long that took."""
        began, observed, said = now(), "OK", None
        try:
            call()
        except RefusedError as error:
            observed, said = error.status, str(error)[:600]
        elapsed = 1000 * (now() - began)
        row = {"step": step, "expected": SMOKE_STEPS[step], "observed": observed, "elapsed_ms": elapsed, "said": said}
        self.steps.append(SmokeStep.model_validate(row | told | {"frames": tuple(map(smoke_frame, frames))}))

    def _history(self, session: str) -> dict[str, object]:
        """Length and digest of a session's history, as the server tells it; nothing where it refuses."""
        try:
            info = self._client.info(session)
        except RefusedError:
            return {}
        return {"history_length": info.history_length, "history_digest": f"sha256:{info.digest}"}


def smoke_frame(frame: Frame) -> SmokeFrame:
    """A frame as it is written down."""
    match frame:
        case Truncated(dropped=dropped):
            return SmokeFrame(frame="truncated", dropped=dropped)
        case Done(stop=stop, tokens=tokens):
            return SmokeFrame(frame="done", stop=stop, tokens=tokens)
        case Block(tokens=ids):
            return SmokeFrame(frame="block", token_ids=ids)


def run_smoke(client: SessionClient, described: Described, started: bool) -> RuntimeSmoke:
    """Smoke the server of `client`, which describes itself so.

    What the server refuses, or a server that is gone, stands in the steps.
    """
    kept = described.restoration
    bounded = kept is not None and RESTORATIONS[kept.mode].evicts
    bound = (kept.sink or 0) + (kept.window or 0) if kept is not None and bounded else 0
    smoke = Smoke(client, described.vocabulary)
    smoke.run(bound)
    smoke.without_generator()
    return RuntimeSmoke(
        server="started" if started else "address",
        engine=described.engine,
        decode_loop=described.decode_loop,
        restoration=described.restoration,
        drafter=described.drafter,
        steps=tuple(smoke.steps),
    )
