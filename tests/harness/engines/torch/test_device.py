"""Clocks of the engines on PyTorch are read once the device is done, and never otherwise."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.base import clock
from harness.base.errors import CannotRunError
from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings, RestorationSpec
from harness.engines.torch.device import NAMES, Device, open_device
from harness.engines.torch.verifier.load import Verifier
from tests.harness.tiny_models import prompt_of
from tests.harness.torch_models import torch_gemma

pytestmark = pytest.mark.torch


@dataclass
class Recording:
    """Stands where `torch.cpu` does, and writes down when it is waited for and when clocks are read."""

    events: list[str] = field(default_factory=list)

    def synchronize(self) -> None:
        self.events.append("wait")

    def read(self) -> float:
        self.events.append("read")
        return float(len(self.events))


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Recording:
    recorder = Recording()
    for module in ("harness.base.clock.now", "harness.engines.torch.device.clock.now"):
        monkeypatch.setattr(module, recorder.read)
    return recorder


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ar", {}),
        ("incremental", {"restoration": RestorationSpec(restoration="identity", sink=2, window=5)}),
        ("fused", {"drafter": DrafterSpec(kind="ngram", block_size=4)}),
        ("fused-carry", {"drafter": DrafterSpec(kind="ngram", block_size=4)}),
    ],
)
def test_every_clock_waits_for_the_device_first(name: str, settings: dict[str, Any], recording: Recording) -> None:
    known = torch_gemma()
    verifier = Verifier(known.model, None, known.architecture, Device("cpu", recording))
    engine = build(name, verifier, EngineSettings(prefill_chunk=16, **settings))
    session = engine.prefill(prompt_of(45))
    for block in engine.decode(session, DecodeLimit(12, {})):
        assert block.tokens
    reads = [index for index, event in enumerate(recording.events) if event == "read"]
    assert all(recording.events[index - 1] == "wait" for index in reads)
    assert bool(reads) is (name != "ar")  # it has no stages to time; the runner's clock is the device's, too


def test_the_clock_of_a_device_waits_and_then_reads(recording: Recording) -> None:
    Device("cpu", recording).now()
    assert recording.events == ["wait", "read"]


def test_a_cpu_keeps_no_count_of_its_memory_and_takes_the_same_calls() -> None:
    device = open_device("cpu")
    device.reset_peak()
    assert (device.held_bytes(), device.peak_bytes(), device.describe()) == (None, None, "cpu")
    assert device.now() <= clock.now()


def test_a_device_counts_where_its_allocator_does() -> None:
    class Counting:
        def synchronize(self) -> None: ...
        def max_memory_allocated(self) -> int:
            return 7

        def memory_allocated(self) -> int:
            return 5

        def get_device_name(self) -> str:
            return "NVIDIA H200"

    device = Device("cuda", Counting())
    assert (device.held_bytes(), device.peak_bytes(), device.describe()) == (5, 7, "cuda (NVIDIA H200)")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cpu"])
def test_a_device_that_is_not_there_is_refused_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("torch.cuda.is_available", "torch.backends.mps.is_available"):
        monkeypatch.setattr(module, lambda: False)
    with pytest.raises(CannotRunError, match=f"device {name}: PyTorch .* finds none here; use device=cpu"):
        open_device(name)
