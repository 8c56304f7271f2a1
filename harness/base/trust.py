"""Whether the user said, on the command, that code from model folders may run. No file can say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FLAG = "--trust-code"
_given = ContextVar("trust_code", default=False)


@contextmanager
def trusting_code(given: bool = True) -> Iterator[None]:
    """Let code from model folders run within, if the user gave the flag."""
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)


def code_is_trusted() -> bool:
    """Whether the command that runs now was given the flag."""
    return _given.get()
