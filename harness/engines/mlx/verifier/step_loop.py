"""The step loop shared by the engines that decode one token at a time with code of our own."""

from collections.abc import Callable, Iterator
from typing import Any

import mlx.core as mx

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit


def token_of(array: mx.array) -> int:
    """The one token id in `array`, evaluated if it is not yet.

    Raises:
        EngineError: it holds something else than an integer.
    """
    token = array.item()
    if not isinstance(token, int):
        raise EngineError(f"a step returned {token!r}, which is no token id")
    return token


def token_ids(tokens: mx.array) -> list[int]:
    """Token ids of shape (L,) as ints, evaluated."""
    ids: Any = tokens.tolist()
    return list(ids)


def step_loop(first: mx.array, step: Callable[[mx.array], mx.array], limit: DecodeLimit) -> Iterator[Block]:
    """Yield one block a token after `first`, an evaluated token of shape (1,), until the limit or a stop token.

    `step` maps a token (1,) to the next one, not evaluated. The next step is dispatched before the present token is
    waited for, as mlx-lm does, so that building a graph and running one overlap; none is dispatched beyond the
    limit, and a stop token leaves at most one that nobody reads.
    """
    limit.check()
    if limit.max_new_tokens == 1 or token_of(first) in limit.stop_tokens:
        return
    upcoming = step(first)
    mx.async_eval(upcoming)
    for emitted in range(2, limit.max_new_tokens + 1):
        current = upcoming
        if emitted < limit.max_new_tokens:
            upcoming = step(current)
            mx.async_eval(upcoming)
        token = token_of(current)
        yield Block((token,))
        if token in limit.stop_tokens:
            return
