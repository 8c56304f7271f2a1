"""Which forwards of the verifier fall between the two readings of decode's clock, for every engine.

MLX builds graphs and runs them later, so a forward is counted by what became of it: it is dispatched once the output of
the last layer's MLP has no operation left to run behind it. A stream's forwards run in order and each needs the token
of the one before, so what was dispatched for the latest known token has ended, and what was dispatched beyond it is
work on the wrong side of a clock: on a CPU MLX waits for most of it while dispatching.
"""

import io
from typing import Any

import mlx.core as mx
import pytest

from harness.base.clock import now
from harness.plans.plan import make_plan
from harness.plans.preset_file import preset_of_flags
from harness.runs import timed_process
from harness.runs.loaded.loading import load_models
from reports.engines import ENGINES
from reports.records.measurement import Measurement
from reports.records.plan import Run

TOKENS = 12
NGRAM = {"drafter": {"kind": "ngram", "block_size": 4}}
SMALL = {"drafter": {"kind": "model", "model": "k3-tiny", "block_size": 4, "graph": "single"}}
ASKED: dict[str, list[dict[str, Any]]] = {
    "ar": [{}],
    "native-baseline": [{"label": "native_ar_baseline"}],
    "incremental": [{}, {"restoration": "identity"}, {"restoration": "f_theta", "f_theta": "k3-tiny-ftheta"}],
    "fused": [NGRAM, SMALL],
    "fused-carry": [NGRAM],
    "mlx-lm-speculative": [SMALL],
    "http": [],  # a server's clock is the client's: tests/harness/engines/http
}
"""What arms of each engine ask for; an engine of the vocabulary that is not here fails the tests."""
ARMS = [
    {"name": f"arm_{engine.replace('-', '_')}_{index}", "role": "peer", "engine": engine, **asked}
    for engine in ENGINES
    if "mlx" in ENGINES[engine].backends
    for index, asked in enumerate(ASKED[engine])
]
NAMES = [str(arm["name"]) for arm in ARMS]
PRESET = {
    "name": "clocks",
    "title": "An arm of every engine",
    "kind": "code",
    "model": "k3-tiny",
    "samples": 1,
    "repeats": 1,
    "max_new_tokens": TOKENS,
    "ignore_turn_stop": True,
    "workload": {"items": 6},
    "arms": ARMS,
}


class Forwards:
    """The verifier's forwards, as its last layer's MLP sees them, and how many there were at each clock reading."""

    def __init__(self) -> None:
        self.outputs: list[mx.array] = []
        self.at_clock: list[tuple[int, int]] = []

    def read_clock(self) -> float:
        """The clock; notes how many forwards are built and how many of them dispatched."""
        self.at_clock.append((len(self.outputs), sum(map(is_dispatched, self.outputs))))
        return now()

    def of_prompt(self, length: int) -> int:
        """How many forwards it took to read a prompt of `length` tokens."""
        read = 0
        for count, output in enumerate(self.outputs, start=1):
            read += output.shape[1]
            if read == length:
                return count
        raise AssertionError(f"{length} tokens are no whole number of forwards")


def is_dispatched(array: mx.array) -> bool:
    graph = io.StringIO()
    mx.export_to_dot(graph, array)
    return "label" not in graph.getvalue()


@pytest.fixture(scope="module")
def prepared() -> timed_process.Prepared:
    loaded = load_models("k3-tiny")
    return timed_process.prepare(make_plan(preset_of_flags(PRESET)), loaded)


def measured(
    prepared: timed_process.Prepared, arm: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Forwards, Measurement]:
    """One row of `arm`, with every forward of the verifier noted; draft models are other objects and are not."""
    forwards, last = Forwards(), prepared.loaded.verifier.model.layers[-1].mlp
    run_layer = type(last).__call__

    def noted(self: Any, *args: Any) -> mx.array:
        output: mx.array = run_layer(self, *args)
        if self is last:
            forwards.outputs.append(output)
        return output

    with monkeypatch.context() as patch:
        patch.setattr(type(last), "__call__", noted)
        patch.setattr(type(prepared.loaded), "now", lambda self: forwards.read_clock())
        return forwards, timed_process.measure(prepared, Run(arm=arm, sample=0, repeat=0), 0, prepared.limit)


@pytest.mark.parametrize("arm", ["oracle", "oracle_again", *NAMES])
def test_decode_pays_for_its_own_forwards_and_for_no_other(
    prepared: timed_process.Prepared, arm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forwards, row = measured(prepared, arm, monkeypatch)
    (_, first_known, end), read = forwards.at_clock, forwards.of_prompt(row.prompt_tokens or 0)
    rounds = None if row.speculation is None else row.speculation.blocks
    needed = TOKENS - 1 if rounds is None else rounds
    assert row.decode_tokens == TOKENS - 1
    assert first_known[0] == read, "no forward beyond the prompt is built when the first token is known"
    assert is_dispatched(forwards.outputs[read - 1])
    assert end[0] - first_known[0] == needed, "nor one beyond the last token when that is known"
    assert end[1] - first_known[1] == needed, "and all that are built were run"


@pytest.mark.parametrize("arm", ["oracle", *NAMES])
def test_counting_bytes_runs_nothing(
    prepared: timed_process.Prepared, arm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, prompt = prepared.engines[arm], prepared.prompts[("main", 0)]
    session = engine.prefill(prompt.tokens)

    def refused(*args: object) -> None:
        raise AssertionError("waited for MLX")

    for name in ("eval", "async_eval", "synchronize"):
        monkeypatch.setattr(mx, name, refused)
    assert engine.stats(session).kv_bytes > 0
