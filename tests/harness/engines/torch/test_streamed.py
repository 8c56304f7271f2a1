"""A streamed model holds one layer at a time and computes what it computes when it holds them all."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
import torch

from harness.engines.torch.reference import Reference, open_reference
from harness.engines.torch.streamed import Read, streamed, units
from tests.harness.folders_4bit import CONFIGS, quantise, write_published

pytestmark = pytest.mark.torch
IDS = [5, 7, 300, 7, 12, 5, 390]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("streamed")
    kinds = ("gemma4_moe", "gemma4_shared")
    return {kind: quantise(write_published(top / f"{kind}-published", kind), top / kind) for kind in kinds}


def live(reference: Reference) -> list[str]:
    """Names of the tensors that have memory now."""
    return [slot.name for unit in units(reference.model) for slot in unit.slots if is_live(slot.tensor)]


def is_live(tensor: Any) -> bool:
    return isinstance(tensor, torch.nn.Parameter) and not tensor.is_meta


def run_watched(reference: Reference, read: Read) -> None:
    with torch.inference_mode(), streamed(reference.model, read):
        reference.model(torch.tensor([IDS]))


@pytest.mark.parametrize("kind", ["gemma4_moe", "gemma4_shared"])
def test_no_more_than_one_layer_is_live_at_any_time(kind: str, folders: dict[str, Path]) -> None:
    reference = open_reference(folders[kind])
    assert live(reference) == []
    seen: list[set[str]] = []

    def watched(name: str, rows: Any) -> Any:
        seen.append({*live(reference), name})
        return reference.read(name, rows)

    run_watched(reference, watched)
    layers = [{name.split(".")[2] for name in names if ".layers." in name} for names in seen]
    assert all(len(held) <= 1 for held in layers)
    assert all(
        held == set() or all(".layers." in name for name in names) for held, names in zip(layers, seen, strict=True)
    )
    assert set().union(*layers) == {str(layer) for layer in range(CONFIGS[kind]["num_hidden_layers"])}
    assert live(reference) == []


def test_of_an_embedding_only_the_rows_of_the_text_are_live(folders: dict[str, Path]) -> None:
    reference = open_reference(folders["gemma4_shared"])
    model = reference.model.model
    sizes: dict[str, int] = {}
    for name in ("embed_tokens", "embed_tokens_per_layer"):
        # Registered before the hooks of the streaming, so it sees the rows before they are dropped.
        getattr(model, name).register_forward_hook(
            lambda module, given, out, name=name: sizes.update({name: module.weight.shape[0]})
        )
    reference.logits(IDS)
    assert sizes == dict.fromkeys(("embed_tokens", "embed_tokens_per_layer"), len(set(IDS)))


def test_mlx_keeps_no_more_than_a_layer_of_what_it_let_go(folders: dict[str, Path]) -> None:
    reference = open_reference(folders["gemma4_moe"])
    mx.eval(mx.zeros((1 << 20,)) + 1)
    mx.clear_cache()
    before = mx.get_active_memory()
    memory: list[int] = []

    def watched(name: str, rows: Any) -> Any:
        tensor = reference.read(name, rows)
        memory.append(mx.get_active_memory() + mx.get_cache_memory() - before)
        return tensor

    run_watched(reference, watched)
    sizes = [sum(4 * slot.tensor.numel() for slot in unit.slots) for unit in units(reference.model)]
    assert max(memory) < 2 * max(sizes) < sum(sizes)


@pytest.mark.parametrize("kind", ["gemma4_moe", "gemma4_shared"])
def test_it_computes_what_the_whole_model_computes(kind: str, folders: dict[str, Path]) -> None:
    import transformers

    reference = open_reference(folders[kind])
    whole = transformers.AutoModelForCausalLM.from_config(reference.model.config, dtype=torch.float32).eval()
    whole.load_state_dict({name: reference.read(name) for name in reference.sources})
    with torch.inference_mode():
        expected = whole(torch.tensor([IDS])).logits[0]
    for _ in range(2):
        torch.testing.assert_close(reference.logits(IDS), expected, atol=1e-4, rtol=0)
