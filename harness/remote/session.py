"""One session on an engine: a history, the K/V that hold it, and what is checked of both on every call.

Every method is an iterator whose steps are turns on the device thread; a step that yields None has only done work.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext

from harness.base.clock import Stopwatch, now
from harness.base.errors import EngineError
from harness.engines.base import AppendingEngine, Block, DecodeLimit, Session, SessionCounts
from harness.engines.remote.records import Appended, Done, Frame, RefusedError, SessionInfo, Stop, Truncated
from harness.remote.determinism import SeenTokens
from harness.remote.history import History

READ, DECODE = "read", "decode"
LOOKS = 64
"""Tokens of a generation from one look at what all sessions hold to the next: a look costs a good part of a token."""
Fault = Callable[[], str | None]
EMPTY = SessionCounts(0, 0, 0.0, 0.0, 0, ())


class BareSession:
    """A session of a service without a generator: nothing but when it was made."""

    def __init__(self) -> None:
        self.last_call = now()
        self.stats = EMPTY


class ServedSession:
    """What one client builds up. Only the device thread calls it.

    The engine may hold less than the history: what was appended when a deadline passed, and the last token of a
    generation, are read when the session goes on.
    """

    def __init__(
        self, engine: AppendingEngine, seen: SeenTokens, fault: Fault, label: str, stop_tokens: Sequence[int]
    ) -> None:
        """`fault` says why no more can be held by all sessions, if so."""
        self.label, self.stop_tokens = label, tuple(stop_tokens)
        self.history = History()
        self.last_stop: Stop | None = None
        self.last_call = now()
        self._engine, self._seen, self._fault = engine, seen, fault
        self._session: Session | None = None
        self._read = 0
        self._prefill_s = 0.0
        self._broken: str | None = None
        self._under_way = False

    @property
    def stats(self) -> SessionCounts:
        """What the engine counted so far."""
        return EMPTY if self._session is None else self._engine.stats(self._session)

    @property
    def held(self) -> int:
        """Positions that the cache has read; the next one has this number."""
        return 0 if self._session is None else self._engine.held(self._session).positions

    def append(self, tokens: Sequence[int], chunk: int) -> Iterator[Appended | None]:
        """Add tokens to the history and read them, at most `chunk` a turn."""
        with self._guarded():
            watch = Stopwatch()
            self.history.append(tokens)
            yield from self._read_on(chunk, watch)
            assert self._session is not None
            yield Appended(len(self.history), watch.total(READ), self.stats, self._session.first_token)

    def generate(self, max_tokens: int, stop_tokens: Sequence[int], longest: int, chunk: int) -> Iterator[Frame | None]:
        """Frames of a generation. The history never grows beyond `longest`."""
        with self._guarded():
            began, watch = now(), Stopwatch()
            if not self.history:
                raise RefusedError("INVALID_ARGUMENT", "nothing was appended to this session; append tokens first")
            yield from self._read_on(chunk, watch)
            assert self._session is not None
            dropped = self._engine.held(self._session).dropped
            if dropped:
                yield Truncated(dropped)
            room = longest - len(self.history)
            stops = {*self.stop_tokens, *stop_tokens}
            emitted, last = 0, -1
            self.last_stop = "CANCELLED"
            with closing(self._blocks(min(max_tokens, room), stops, watch)) as blocks:
                for block in blocks:
                    before, emitted, last = emitted, emitted + len(block.tokens), block.tokens[-1]
                    yield block
                    if emitted // LOOKS > before // LOOKS and self._fault():
                        break
            self.last_stop = "EOS" if last in stops else "MAX_TOKENS" if emitted == max_tokens else "TRUNCATED"
            prefill_s, self._prefill_s = self._prefill_s, 0.0
            yield Done(self.last_stop, emitted, prefill_s, watch.total(DECODE), now() - began, self.stats)

    def info(self) -> Iterator[SessionInfo | None]:
        """Where it stands, also while another call is under way, whose checks come when it ends."""
        with nullcontext() if self._under_way else self._guarded():
            yield SessionInfo(
                len(self.history), self.held, self.stats.kv_bytes, self.history.digest, self.last_stop, self.label
            )

    def _blocks(self, count: int, stops: set[int], watch: Stopwatch) -> Generator[Block, None, None]:
        """At most `count` tokens in blocks, in the history before anybody sees them; reading told the first."""
        assert self._session is not None
        if count < 1:
            return
        limit = DecodeLimit(count, dict.fromkeys(stops, "eos"))
        first = self._session.first_token
        yield self._taken(Block((first,)))
        # The protocol says iterator; every engine's is a generator, and one that is not has nothing to close.
        decoding = self._engine.decode(self._session, limit)
        try:
            while True:
                with watch.stage(DECODE):
                    block = next(decoding, None)
                if block is None:
                    break
                yield self._taken(block)
        finally:
            close = getattr(decoding, "close", None)
            if close is not None:
                close()

    def _taken(self, block: Block) -> Block:
        """A block that was checked against INV-3, token by token, and put into the history."""
        for token in block.tokens:
            self._seen.check(self.history.key(), token, len(self.history))
            self.history.generate([token])
        return block

    def _read_on(self, chunk: int, watch: Stopwatch) -> Iterator[None]:
        """Read what the cache does not hold; afterwards the engine knows what follows the whole history."""
        before = watch.total(READ)
        while True:
            part = self.history.tokens[self.held : self.held + chunk]
            fault = self._fault() if part else None
            if fault is not None:
                raise RefusedError("RESOURCE_EXHAUSTED", fault)
            with watch.stage(READ):
                if self._session is not None:
                    self._engine.append(self._session, part)
                elif part:
                    self._session = self._engine.prefill(part)
            self._prefill_s += watch.total(READ) - before
            before = watch.total(READ)
            if self.held == len(self.history):
                return
            if not part:
                raise RefusedError("FAILED_PRECONDITION", self._inv_2())
            yield None

    def _inv_2(self) -> str:
        return f"INV-2: the cache's next position is {self.held}, the history it holds has {self._read} tokens"

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """The checks around a call. What breaks an invariant or the engine breaks the session for good.

        Raises:
            RefusedError: it is broken, or was found to be.
        """
        self.last_call = now()
        if self._broken is not None:
            raise RefusedError("FAILED_PRECONDITION", f"this session is broken and can only be closed: {self._broken}")
        self._under_way = True
        try:
            self.history.check()
            if self.held != self._read or self._read > len(self.history):
                raise RefusedError("FAILED_PRECONDITION", self._inv_2())
            yield
            self._read = self.held
        except GeneratorExit:
            self._read = self.held
            raise
        except RefusedError as error:
            self._read = self.held
            if error.status == "FAILED_PRECONDITION":
                self._broken = str(error)
            raise
        except EngineError as error:
            self._broken = str(error)
            raise RefusedError("FAILED_PRECONDITION", self._broken) from error
        except Exception as error:
            self._broken = type(error).__name__
            raise
        finally:
            self._under_way = False
            self.last_call = now()
