"""Calls in any order, over the wire, with ids that are open, closed or of nobody: each is answered as the protocol
says, and no session ever holds or emits a token that is not its own."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.engines.remote.records import Done, Frame, RefusedError
from harness.remote.history import packed
from harness.remote.limits import Limits
from harness.remote.server import serving
from tests.harness.remote.served import running, tokens_of

SESSIONS, STRANGER = 3, "8bMT5cLhZ2xkQ0vYw7pS1rJfNdEaGu3X"
OUTSIDE = 1024
"""The first id that k3-tiny has not."""
IDS = st.sampled_from(["open", "open", "open", "closed", "stranger", "empty"])
TOKENS = st.lists(st.integers(3, OUTSIDE), max_size=6)
CALLS = st.one_of(
    st.tuples(st.just("create"), st.integers(0, 201)),
    st.tuples(st.just("append"), IDS, TOKENS),
    st.tuples(st.just("generate"), IDS, st.integers(0, 5)),
    st.tuples(st.just("cancel"), IDS, st.integers(1, 40)),
    st.tuples(st.just("close_while_generating"), IDS),
    st.tuples(st.just("close"), IDS),
    st.tuples(st.just("info"), IDS),
    st.tuples(st.just("hold"), IDS),
    st.tuples(st.just("describe")),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running("fused", Limits(sessions=SESSIONS + 1)) as service, serving(service, "127.0.0.1:0") as listening:
        yield listening


class Client:
    """A client and what it knows: the history of each of its open sessions, and ids that are no longer any."""

    def __init__(self, address: str) -> None:
        self.client = SessionClient(address, deadline_s=10)
        self.open: dict[str, list[int]] = {}
        self.closed: list[str] = []
        self.held: set[str] = set()

    def create(self, length: int) -> None:
        if length > 200 or len(self.open) < SESSIONS:
            name = self.ends("OK" if length <= 200 else "INVALID_ARGUMENT", lambda: self.client.create("x" * length))
            self.open |= {name: []} if name is not None else {}
            return
        last = self.client.create("as many as may be")
        self.ends("RESOURCE_EXHAUSTED", lambda: self.client.create("one more"))
        self.client.close_session(last)

    def append(self, which: str, tokens: list[int]) -> None:
        name = self.pick(which)
        fits = bool(tokens) and OUTSIDE not in tokens
        wanted = "NOT_FOUND" if name not in self.open else "OK" if fits else "INVALID_ARGUMENT"
        done = self.ends(wanted, lambda: self.client.append(name, tokens))
        if done is not None:
            self.open[name] += tokens
            assert done.history_length == len(self.open[name])

    def generate(self, which: str, count: int) -> None:
        name = self.pick(which)
        frames = self.ends(self.generating(name, count), lambda: list(self.client.generate(name, count)))
        if frames is not None:
            emitted = tokens_of(frames)
            assert isinstance(frames[-1], Done)
            assert emitted == self.due(self.open[name], count)
            self.open[name] += emitted

    def cancel(self, which: str, count: int) -> None:
        """Leave a stream after its first frame; what was emitted by then is this session's, whoever saw it."""
        name = self.pick(which)
        if self.ends(self.generating(name, count), lambda: self.first_frame(name, count)) is not None:
            emitted = self.client.info(name).history_length - len(self.open[name])
            assert 0 <= emitted <= count
            self.open[name] += self.due(self.open[name], emitted) if emitted else []

    def close_while_generating(self, which: str) -> None:
        name = self.pick(which)
        if self.generating(name, 40) == "OK":
            with closing(self.client.generate(name, 40)) as stream:  # type: ignore[type-var]
                next(stream)
                self.close(which)
                ended = self.ends("CANCELLED", lambda: list(stream), or_else="OK")
                assert ended is None or isinstance(ended[-1], Done)

    def close(self, which: str) -> None:
        name = self.pick(which)
        self.ends("OK" if name in self.open else "NOT_FOUND", lambda: self.client.close_session(name))
        if self.open.pop(name, None) is not None:
            self.closed.append(name)

    def info(self, which: str) -> None:
        name = self.pick(which)
        told = self.ends("OK" if name in self.open else "NOT_FOUND", lambda: self.client.info(name))
        if told is not None:
            assert told.digest == hashlib.sha256(packed(self.open[name])).hexdigest()

    def hold(self, which: str) -> None:
        name = self.pick(which)
        wanted = "NOT_FOUND" if name not in self.open else "FAILED_PRECONDITION" if name in self.held else "OK"
        self.ends(wanted, lambda: self.client.hold(name))
        self.held |= {name} & set(self.open)

    def describe(self) -> None:
        assert self.client.describe().engine == "fused"

    def pick(self, which: str) -> str:
        """An id of this kind; where there is none, one of nobody."""
        known = {"open": [*self.open][-1:], "closed": self.closed[-1:], "empty": [""]}.get(which, [])
        return known[0] if known else STRANGER

    def generating(self, name: str, count: int) -> str:
        if name not in self.open:
            return "NOT_FOUND"
        return "OK" if count and self.open[name] else "INVALID_ARGUMENT"

    def first_frame(self, name: str, count: int) -> Frame:
        with closing(self.client.generate(name, count)) as stream:  # type: ignore[type-var]
            return next(stream)

    def due(self, history: list[int], count: int) -> list[int]:
        """What follows a history, of a session that reads it at once."""
        once = self.client.create("once")
        self.client.append(once, history)
        blocks = [frame for frame in self.client.generate(once, count) if isinstance(frame, Block)]
        self.client.close_session(once)
        return tokens_of(blocks)

    def ends(self, wanted: str, call: Callable[[], Any], or_else: str | None = None) -> Any:
        """What the call gives; None where it is refused, as it must be, or may be."""
        try:
            given, status = call(), "OK"
        except RefusedError as error:
            given, status, said = None, error.status, str(error)
            assert said.isprintable()
            assert not [part for part in ("Traceback", 'File "', *self.open) if part in said]
        assert status in (wanted, or_else)
        return given


@given(st.lists(CALLS, max_size=14))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_calls_in_any_order_are_answered_as_the_protocol_says(
    address: str, caplog: pytest.LogCaptureFixture, calls: list[tuple[Any, ...]]
) -> None:
    one = Client(address)
    with closing(one.client), caplog.at_level(logging.ERROR, "k3.sessions"):
        try:
            for name, *arguments in [("create", 0), *calls]:
                getattr(one, name)(*arguments)
            for name in one.open:
                assert one.client.info(name).digest == hashlib.sha256(packed(one.open[name])).hexdigest()
            assert len(one.due([5, 6, 7], 3)) == 3, "it still answers"
        finally:
            for name in one.open:
                one.client.close_session(name)
    assert not caplog.records
