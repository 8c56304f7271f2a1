"""`k3 code`: speculative decoding on code to complete, from flags instead of a preset, beside its negative control."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from harness.commands.run.eval import execute
from harness.commands.run.options import BlockSize, Dry, Items, Json, Model, Out, Repeats, Samples, Seed
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags

SHUFFLE_SEED = 1


class DrafterOption(StrEnum):
    """Who proposes."""

    ngram = "ngram"
    model = "model"
    dflash = "dflash"
    dflash_torch = "dflash-torch"
    combined = "combined"


class EngineOption(StrEnum):
    """How rejected drafts are taken back: trimmed from plain caches, or by a snapshot of the native ones."""

    fused = "fused"
    fused_carry = "fused-carry"


class GraphOption(StrEnum):
    """Draft and verify evaluated one after the other, or as one graph."""

    two_phase = "two_phase"
    single = "single"


def command(
    model: Model = "smollm2-135m",
    drafter: Annotated[DrafterOption, typer.Option(help="Who proposes.")] = DrafterOption.ngram,
    drafter_model: Annotated[str | None, typer.Option(help="Its weights, named as --model is; none for ngram.")] = None,
    block_size: BlockSize = 8,
    engine: Annotated[EngineOption, typer.Option(help="How rejected drafts are taken back.")] = EngineOption.fused,
    graph: Annotated[GraphOption, typer.Option(help="Draft and verify in turn or at once.")] = GraphOption.two_phase,
    natural_stop: Annotated[
        bool, typer.Option("--natural-stop/--full-budget", help="Stop at the model's own end, or decode all.")
    ] = False,
    items: Items = 12,
    max_new_tokens: Annotated[int, typer.Option(help="Budget of a stream.")] = 128,
    samples: Samples = 6,
    repeats: Repeats = 3,
    seed: Seed = 42,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
) -> None:
    """Decode code continuations speculatively, beside the oracle and a drafter whose tokens are permuted."""
    proposer: dict[str, Any] = {"kind": drafter.value, "block_size": block_size}
    if drafter_model is not None:
        proposer["model"] = drafter_model
    label = f"k3 {engine.value}, {drafter.value}, blocks of {block_size}"
    arm = {"name": "sut", "role": "sut", "engine": engine.value, "label": label}
    # A permuted draft is made on the host, so the control of a single graph is evaluated in two phases.
    control = {"name": "shuffled", "role": "control", "engine": engine.value, "label": f"{label}, permuted vocabulary"}
    document: dict[str, Any] = {
        "name": "code",
        "title": f"Code continuations of {model}, {drafter.value} drafting blocks of {block_size}",
        "kind": "code",
        "model": model,
        "samples": samples,
        "repeats": repeats,
        "seed": seed,
        "max_new_tokens": max_new_tokens,
        "ignore_turn_stop": not natural_stop,
        "workload": {"items": items},
        "arms": [
            arm | {"drafter": proposer | {"graph": graph.value}},
            control | {"drafter": proposer | {"shuffle_seed": SHUFFLE_SEED}},
        ],
    }
    execute(plan_of(preset_of_flags(document)), out, json_output, dry)
