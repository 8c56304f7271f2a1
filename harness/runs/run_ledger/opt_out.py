"""Whether the user wants this run out of the ledger: by the flag `--no-ledger`, or by an environment variable."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "K3_NO_LEDGER"
_given = ContextVar("no_ledger", default=False)


@contextmanager
def leaving_out() -> Iterator[None]:
    """Record no run within: the user gave the flag."""
    token = _given.set(True)
    try:
        yield
    finally:
        _given.reset(token)


def left_out() -> bool:
    """The flag was given, or the variable is set to anything but 0."""
    return _given.get() or os.environ.get(VARIABLE, "0") not in ("", "0")
