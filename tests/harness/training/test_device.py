"""Devices of training: found or refused, and no tensor made on another one along the way."""

from pathlib import Path

import numpy as np
import pytest
import torch

from harness.base.errors import CannotRunError
from harness.engines.dflash_config import DflashConfig, DflashLayerKind
from harness.engines.torch.device import present
from harness.training.device import find_device
from harness.training.drafter.blocks import blocks_of, draw_anchors, places_in
from harness.training.drafter.checkpoint import Checkpoint
from harness.training.drafter.loop import Loop
from harness.training.drafter.net import DrafterNet, initialise
from harness.training.drafter.recipe import TrainingRecipe
from harness.training.drafter.surroundings import Surroundings
from harness.training.drafter.verifier import Continued

pytestmark = pytest.mark.torch

HIDDEN, VOCAB, SIZE = 16, 40, 4


def net() -> DrafterNet:
    config = DflashConfig(
        hidden_size=HIDDEN,
        intermediate_size=24,
        heads=2,
        kv_heads=1,
        head_dim=8,
        norm_eps=1e-6,
        rope_theta=10000.0,
        rope_scaling=None,
        max_position_embeddings=128,
        target_layer_ids=(0, 1),
        mask_token_id=1,
        block_size=SIZE,
        layer_kinds=(DflashLayerKind(None, False), DflashLayerKind(8, True)),
        draft_vocab=VOCAB,
    )
    made = DrafterNet(config, torch.ones(2 * HIDDEN))
    initialise(made, 3, torch.ones(HIDDEN))
    return made


def sequence() -> Continued:
    rng = torch.Generator().manual_seed(4)
    tokens = torch.randint(0, VOCAB, (20,), generator=rng)
    return Continued(tokens, 8, tokens[1:], torch.randn(19, 2 * HIDDEN, generator=rng))


def loop_on(device: str, tmp_path: Path, distil: float = 0.5) -> Loop:
    recipe = TrainingRecipe(mask_token_id=1, block_size=SIZE, steps=2, sequences=1, anchors=6, distil=distil)
    rng = torch.Generator().manual_seed(5)
    table = torch.randn(VOCAB, HIDDEN, generator=rng).to(device)
    around = Surroundings(table, table, places_in(torch.arange(VOCAB), VOCAB), 30.0, lambda last: last)
    checkpoint = Checkpoint(tmp_path / "checkpoint.safetensors", recipe, "sha256:" + "0" * 64)
    return Loop(net().to(device), recipe, around, [sequence()], [sequence()], checkpoint)


def test_every_tensor_of_a_step_is_made_on_the_device_it_trains_on(tmp_path: Path) -> None:
    """`meta` is a device that computes nothing, and refuses to mix with any other, as a real one would."""
    loop = loop_on("meta", tmp_path)
    anchors = draw_anchors(sequence(), 6, np.random.default_rng(0))
    made = blocks_of([(sequence(), anchors)], SIZE, 1, loop.around.places)
    with pytest.raises(RuntimeError):
        torch.autograd.backward(loop.loss(made))
    loss = loop.loss(made.to(loop.around.device))
    torch.autograd.backward(loss)
    assert loss.device.type == "meta"
    assert {weight.grad.device.type for weight in loop.net.parameters() if weight.grad is not None} == {"meta"}


def test_a_checkpoint_goes_on_wherever_the_net_is(tmp_path: Path) -> None:
    on_cpu = loop_on("cpu", tmp_path, distil=0.0)
    on_cpu.run(lambda progress: None)
    elsewhere = loop_on("meta", tmp_path, distil=0.0)
    assert elsewhere.progress == on_cpu.progress
    held = [moment for state in elsewhere.optimiser.state.values() for moment in state.values()]
    assert {moment.device.type for moment in held} == {"meta"}
    again = loop_on(find_device("auto").type, tmp_path, distil=0.0)
    weights = zip(on_cpu.net.parameters(), again.net.parameters(), strict=True)
    assert all(torch.equal(one, other.cpu()) for one, other in weights)


def test_auto_is_the_fastest_there_is_and_the_cpu_is_always_there() -> None:
    assert find_device("auto").type == present()[0]
    assert find_device("cpu").type == present()[-1] == "cpu"


def test_a_device_that_is_not_there_is_refused_in_one_line() -> None:
    missing = [name for name in ("cuda", "mps") if name not in present()]
    assert missing
    for name in missing:
        with pytest.raises(CannotRunError, match=f"--device {name}: PyTorch finds none here; it finds .*cpu$"):
            find_device(name)
