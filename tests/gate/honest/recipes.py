"""The arms to simulate: what each says to a prompt, and how it is made."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports.engines import NATIVE_BASELINE, ORACLE
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import DrafterInfo, Mismatch, PromptSet, Restoration, Role, StopReason

END_OF_TURN = 2
NATIVE = Restoration(mode="none")


@dataclass(frozen=True)
class Stream:
    """What an arm says to one prompt; `mismatches` are places where it is not the verifier's own choice."""

    token_ids: tuple[int, ...]
    text: str
    stop_reason: StopReason
    correct: bool | None = None
    mismatches: tuple[Mismatch, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """An arm to simulate. `say(sample)` is its stream; `step` scales the seconds of a decode step."""

    name: str
    role: Role
    engine: str
    say: Callable[[int], Stream]
    label: str | None = None
    prompt_set: PromptSet = "main"
    restoration: Restoration = NATIVE
    drafter: DrafterInfo | None = None
    step: float = 1.0
    repeats: int | None = None


def oracles(say: Callable[[int], Stream]) -> list[Recipe]:
    """The plain model, twice."""
    return [
        Recipe("oracle", "oracle", ORACLE.name, say),
        Recipe("oracle_again", "null", ORACLE.name, say),
    ]


def native(say: Callable[[int], Stream]) -> Recipe:
    """A plain loop over the native cache, a tenth slower than the oracle's, and labelled as a baseline."""
    return Recipe("native", "sut", NATIVE_BASELINE.name, say, label=NATIVE_BASELINE_LABEL, step=1.1)


def answer(text: str, *, correct: bool) -> Stream:
    """A short answer that ends its turn."""
    pieces = [text[i : i + 3] for i in range(0, len(text), 3)]
    return Stream((*toy_ids(pieces), END_OF_TURN), text, "eos", correct)


def toy_ids(pieces: Sequence[str]) -> tuple[int, ...]:
    """A toy tokenizer: one id a piece of text, the same for the same piece."""
    return tuple(100 + int(hashlib.sha256(piece.encode()).hexdigest()[:8], 16) % 49000 for piece in pieces)
