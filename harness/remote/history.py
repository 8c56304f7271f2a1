"""The tokens of a session, and INV-1: what it holds is what was appended and generated, in that order."""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Protocol

from harness.engines.remote.records import RefusedError


class Hash(Protocol):
    """As hashlib's."""

    def update(self, data: bytes, /) -> None: ...
    def copy(self) -> "Hash": ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


def packed(tokens: Sequence[int]) -> bytes:
    """Four bytes an id, little-endian."""
    return struct.pack(f"<{len(tokens)}I", *tokens)


class History:
    """Token ids, and a running hash over them that was fed where they came in.

    The list is what the engine reads; the hash never looks at it again. So a list that was changed behind our back, or
    an engine that kept what is not its own, is found by hashing it anew.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self._appended = 0
        self._generated = 0
        self._running: Hash = hashlib.sha256()

    def __len__(self) -> int:
        return len(self.tokens)

    def append(self, tokens: Sequence[int]) -> None:
        """Tokens of the client."""
        self.tokens += tokens
        self._appended += len(tokens)
        self._running.update(packed(tokens))

    def generate(self, tokens: Iterable[int]) -> None:
        """Tokens of the engine."""
        for token in tokens:
            self.tokens.append(token)
            self._generated += 1
            self._running.update(packed([token]))

    def key(self) -> bytes:
        """Of all tokens so far: the same for the same history, however it was built up."""
        return self._running.copy().digest()

    @property
    def digest(self) -> str:
        """The same in hex."""
        return self._running.hexdigest()

    def check(self) -> None:
        """Raises: RefusedError: INV-1 is broken."""
        held, appended, generated = len(self.tokens), self._appended, self._generated
        if held != appended + generated or hashlib.sha256(packed(self.tokens)).digest() != self._running.digest():
            message = f"INV-1: the history of {held} tokens is not the {appended} appended and {generated} generated"
            raise RefusedError("FAILED_PRECONDITION", message)
