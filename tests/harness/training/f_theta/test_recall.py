"""The needle prompts an f_theta is tried on: what ships with k3-tiny carries them, and nothing put back does not."""

import pytest

from harness.base.errors import UsageError
from harness.engines.mlx.verifier.load import load_verifier
from harness.models.f_theta_folder import HeldOutRecall
from harness.models.resolve import resolve
from harness.training.f_theta.recall import SEED, RecallTrial


def test_what_ships_recalls_what_ablation_loses() -> None:
    trial = RecallTrial(load_verifier(resolve("k3-tiny").folder), 12, 2)
    found = trial.of(resolve("k3-tiny-ftheta").folder)
    assert found == HeldOutRecall(seed=SEED, lines=12, prompts=2, verifier=2, restored=2, ablated=0)


def test_haystacks_within_the_window_are_refused() -> None:
    verifier = load_verifier(resolve("k3-tiny").folder)
    with pytest.raises(UsageError, match="2 lines hold no needle outside the window; use more --lines"):
        RecallTrial(verifier, 2, 1)
