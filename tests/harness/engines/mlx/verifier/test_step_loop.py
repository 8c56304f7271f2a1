"""The step loop: dispatched ahead, but never beyond the limit."""

import mlx.core as mx
import pytest

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.mlx.verifier.step_loop import step_loop, token_of


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_step_is_run_beyond_the_limit(limit: int) -> None:
    steps = []

    def step(token: mx.array) -> mx.array:
        steps.append(token)
        return token + 1

    blocks = list(step_loop(mx.array([10]), step, DecodeLimit(limit, {})))
    assert [block.tokens for block in blocks] == [(10 + index,) for index in range(1, limit)]
    assert len(steps) == limit - 1


def test_a_stop_token_leaves_one_step_nobody_reads() -> None:
    steps = []

    def step(token: mx.array) -> mx.array:
        steps.append(token)
        return token + 1

    blocks = list(step_loop(mx.array([10]), step, DecodeLimit(50, {13: "eos"})))
    assert [block.tokens[0] for block in blocks] == [11, 12, 13]
    assert len(steps) == 4


def test_a_token_is_an_integer() -> None:
    assert token_of(mx.array([3])) == 3
    with pytest.raises(EngineError, match="no token id"):
        token_of(mx.array([0.5]))
