"""The loop of the engines that decode one token at a time."""

from collections.abc import Callable, Iterator

from harness.engines.base import Block, DecodeLimit


def step_by_step(first: int, step: Callable[[int], int], limit: DecodeLimit) -> Iterator[Block]:
    """Yield one block a token after `first`, until the limit or a stop token.

    `step` maps a token to the next one, which is on the host when it returns, so nothing is left to wait for.
    """
    limit.check()
    token = first
    for _ in range(limit.max_new_tokens - 1):
        if token in limit.stop_tokens:
            return
        token = step(token)
        yield Block((token,))
