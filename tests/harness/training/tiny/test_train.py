"""Training the tiny verifier: it learns, it can be interrupted, and what it writes is what others load."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.base.errors import UsageError
from harness.checks.verify_model import compare_logits, reference_logits
from harness.training.tiny.corpus import tokenizer_texts
from harness.training.tiny.export import TinyManifest, export
from harness.training.tiny.model import TinyConfig, TinyModel
from harness.training.tiny.tokenizer import VOCABULARY, open_tiny_tokenizer, train_tokenizer
from harness.training.tiny.train import FLOOR, WARMUP, Settings, Stage, Trainer

pytestmark = pytest.mark.torch

SMALL = TinyConfig(VOCABULARY, hidden=64, heads=2, kv_heads=1, head_dim=32, intermediate=64, window=16)
SETTINGS = Settings(steps=12, rate=5e-3)


@pytest.fixture(name="work", scope="module")
def trained_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a tokenizer."""
    folder: Path = tmp_path_factory.mktemp("work")
    train_tokenizer(tokenizer_texts(0, count=40), folder)
    return folder


@pytest.fixture(autouse=True)
def short_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two short stages in place of the real ones."""
    monkeypatch.setattr("harness.training.tiny.train.STAGES", (Stage(64, 8, 0.5), Stage(128, 4, 0.5)))


def steps(trainer: Trainer, count: int) -> list[float]:
    """Run `count` steps; their losses."""
    losses = []
    for _ in range(count):
        losses.append(trainer._one_step())
        trainer.step += 1
    return losses


def test_the_loss_falls_and_a_resumed_run_goes_on_as_if_nothing_had_been(work: Path, tmp_path: Path) -> None:
    text = open_tiny_tokenizer(work)
    straight = Trainer.fresh(text, SMALL, SETTINGS)
    losses = steps(straight, 12)
    assert losses[-1] < losses[0]

    first = Trainer.fresh(text, SMALL, SETTINGS)
    steps(first, 7)
    first.save(tmp_path / "checkpoint.pt")
    second = Trainer.fresh(text, SMALL, SETTINGS)
    second.resume(tmp_path / "checkpoint.pt")
    assert steps(second, 5) == losses[7:]
    assert second.corpus == straight.corpus

    other = Trainer.fresh(text, SMALL, Settings(steps=13))
    with pytest.raises(UsageError, match="other settings"):
        other.resume(tmp_path / "checkpoint.pt")


def test_stages_follow_each_other_and_the_rate_rises_and_falls() -> None:
    settings = Settings(steps=1000)
    assert [settings.stage(step).length for step in (0, 499, 500, 999)] == [64, 64, 128, 128]
    rates = [settings.rate_at(step) for step in range(1000)]
    peak = rates.index(max(rates))
    assert peak in (WARMUP - 1, WARMUP)
    assert rates[:peak] == sorted(rates[:peak])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[-1] == pytest.approx(settings.rate * FLOOR, rel=0.01)


def test_sliding_layers_see_their_window_and_full_layers_everything() -> None:
    torch.manual_seed(0)
    sliding = TinyModel(TinyConfig(VOCABULARY, 64, 1, 2, 1, 32, 64, window=16, period=2))
    hybrid = TinyModel(TinyConfig(VOCABULARY, 64, 2, 2, 1, 32, 64, window=16, period=2))
    tokens = torch.randint(3, VOCABULARY, (1, 64))
    changed = tokens.clone()
    changed[0, 10] += 1
    for model, last in ((sliding, 25), (hybrid, 63)):
        moved = (model.hidden(tokens) - model.hidden(changed)).abs().amax(dim=-1)[0] > 0
        assert moved.nonzero()[:, 0].tolist() == list(range(10, last + 1))


def test_the_folder_is_the_model_that_transformers_and_mlx_lm_run(work: Path, tmp_path: Path) -> None:
    import mlx.core as mx

    from harness.engines.mlx.verifier.load import load_verifier

    trainer = Trainer.fresh(open_tiny_tokenizer(work), SMALL, SETTINGS)
    steps(trainer, 2)
    manifest = export(trainer, work, tmp_path, "a command")
    assert TinyManifest.model_validate_json((tmp_path / "manifest.json").read_bytes()) == manifest
    assert manifest.recipe.prompts == (manifest.corpus,)
    assert {"synthetic/notes", "synthetic/facts", "synthetic/sql_rows"} < set(manifest.recipe.groups)
    assert json.loads((tmp_path / "config.json").read_text())["layer_types"][:2] == [
        "sliding_attention",
        "full_attention",
    ]
    ids, reference, name = reference_logits(tmp_path)
    verifier = load_verifier(tmp_path)
    assert verifier.tokenizer.encode("x")[0] == ids[0] == 1
    loaded = np.array(verifier.model(mx.array([ids]))[0].astype(mx.float32))
    assert compare_logits(loaded, reference, name).largest_logit_gap < 1e-3
    padded = torch.tensor([ids + [0] * (-len(ids) % SMALL.window)])
    with torch.inference_mode():
        ours = trainer.model.logits(trainer.model.hidden(padded))[0, : len(ids)].numpy()
    assert compare_logits(ours, reference, name).largest_logit_gap < 1e-3
