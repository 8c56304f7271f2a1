"""Prompt lookup on ints: where the last few tokens stood before, and what followed. No tensors.

Saxena's prompt lookup (2023): the longest suffix of up to `longest` tokens that occurred earlier, at its latest
occurrence. The index has one dictionary a suffix length and costs O(1) a token.
"""

from collections.abc import Iterable

LONGEST = 3


class SuffixIndex:
    """The tokens of a stream and, for every run of 1 to `longest` of them, where its latest occurrence ended."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._tokens: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def extend(self, tokens: Iterable[int]) -> None:
        """Append `tokens`; every run that ends with one of them now has its latest occurrence there."""
        held, after = self._tokens, self._after
        for token in tokens:
            held.append(token)
            end = len(held)
            for length in range(1, min(self._longest, end) + 1):
                after[tuple(held[end - length :])] = end

    def matched(self, last: int) -> int:
        """Tokens of the longest known suffix of the stream with `last` appended; 0 if not even `last` occurred."""
        tail = self._tail(last)
        return next((len(tail) - start for start in range(len(tail)) if tuple(tail[start:]) in self._after), 0)

    def continuation(self, last: int, limit: int) -> list[int]:
        """Up to `limit` tokens that followed the longest known suffix of the stream with `last` appended.

        A match close to the end runs into its own continuation, as a copy in LZ77 may, so that a repeat of any
        period is proposed to the full. Empty if not even `last` occurred before.
        """
        tail = self._tail(last)
        for start in range(len(tail)):
            position = self._after.get(tuple(tail[start:]))
            if position is not None:
                return self._copy(position, last, limit)
        return []

    def _tail(self, last: int) -> list[int]:
        """The longest suffix that can be known, `last` included."""
        return [*self._tokens[max(0, len(self._tokens) - self._longest + 1) :], last]

    def _copy(self, position: int, last: int, limit: int) -> list[int]:
        """`limit` tokens from `position` on, over the stream, then `last`, then what is being copied."""
        copied = self._tokens[position : position + limit]
        if len(copied) < limit:
            period = len(self._tokens) + 1 - position
            copied.append(last)
            while len(copied) < limit:
                copied.append(copied[len(copied) - period])
        return copied[:limit]
