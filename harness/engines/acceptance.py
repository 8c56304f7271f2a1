"""Which drafts a block keeps. Pure functions on ints: no tensors, no clocks.

Greedy verification: the verifier's choice after every token of the block is compared with the draft that stands
there; the drafts before the first difference are what plain decoding would have emitted (Leviathan et al., 2023, at
temperature 0), and the verifier's choice after the last of them is one token more.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Commit:
    """What a block adds to the stream.

    `matched` drafts equal the verifier's choices, `tokens` are those drafts and the verifier's own token, cut after
    the first stop token; `accepted` of the drafts are among `tokens`.
    """

    matched: int
    tokens: tuple[int, ...]
    accepted: int


def leading_matches(drafts: Sequence[int], choices: Sequence[int]) -> int:
    """How many drafts equal the choices at the same places, up to the first that does not."""
    for index, (draft, choice) in enumerate(zip(drafts, choices, strict=False)):
        if draft != choice:
            return index
    return min(len(drafts), len(choices))


def commit(drafts: Sequence[int], choices: Sequence[int], stop_tokens: Collection[int]) -> Commit:
    """Accept `drafts` against `choices`, the verifier's tokens after the last committed one and after each draft.

    Raises:
        ValueError: there is not one choice more than there are drafts.
    """
    if len(choices) != len(drafts) + 1:
        raise ValueError(f"{len(drafts)} drafts need {len(drafts) + 1} choices, not {len(choices)}")
    matched = leading_matches(drafts, choices)
    tokens = tuple(choices[: matched + 1])
    for index, token in enumerate(tokens):
        if token in stop_tokens:
            tokens = tokens[: index + 1]
            break
    return Commit(matched, tokens, min(matched, len(tokens)))
