"""What a task in the process apart may take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """Seconds of processor time, and bytes of memory beyond what the process holds when it is asked."""

    seconds: int
    memory: int


BOUNDS = {"render": Bound(1, 256 * 2**20), "try_tokenizer": Bound(5, 1024 * 2**20)}
"""An honest template takes a millisecond; the largest honest tokenizer two seconds and 350 MB."""
OWN_MEMORY = 300 * 2**20
"""Bytes that the process itself holds at most, with the libraries it imports."""
PATIENCE_S = 60.0
"""Seconds of the clock that an answer may take on a busy machine, the start of the process included."""
MOST_ADDED = 100_000
"""Characters that a chat template may add to what was said."""
