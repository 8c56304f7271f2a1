"""`k3 code`: speculative decoding on code to complete, from flags instead of a preset, beside its negative control."""

from typing import Annotated, Any, get_args

import typer

from harness.commands.run.eval import execute
from harness.commands.run.options import (
    BlockSize,
    Dry,
    Items,
    Json,
    Model,
    Out,
    Processes,
    Repeats,
    Samples,
    Seed,
    Verbose,
    choice,
)
from harness.commands.trust_option import TrustCode
from harness.engines.spec import Graph
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags
from reports.drafters import DRAFTERS, NGRAM
from reports.engines import ENGINES, FUSED

SHUFFLE_SEED = 1
OWN_ENGINES = tuple(kind.name for kind in ENGINES.values() if kind.drafts and not kind.foreign)


def command(
    model: Model = "smollm2-135m",
    drafter: Annotated[str, choice(DRAFTERS, "Who proposes.")] = NGRAM.kind,
    drafter_model: Annotated[str | None, typer.Option(help="Its weights, named as --model is; none for ngram.")] = None,
    block_size: BlockSize = 8,
    engine: Annotated[str, choice(OWN_ENGINES, "How rejected drafts are taken back.")] = FUSED.name,
    graph: Annotated[str, choice(get_args(Graph), "Draft and verify in turn or at once.")] = "two_phase",
    natural_stop: Annotated[
        bool, typer.Option("--natural-stop/--full-budget", help="Stop at the model's own end, or decode all.")
    ] = False,
    items: Items = 12,
    max_new_tokens: Annotated[int, typer.Option(help="Budget of a stream.")] = 128,
    samples: Samples = 6,
    repeats: Repeats = 1,
    processes: Processes = 3,
    seed: Seed = 42,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Speculative decoding of code, beside the plain model.

    A drafter whose tokens are permuted is the control.
    """
    proposer: dict[str, Any] = {"kind": drafter, "block_size": block_size}
    if drafter_model is not None:
        proposer["model"] = drafter_model
    label = f"k3 {engine}, {drafter}, blocks of {block_size}"
    arm = {"name": "sut", "role": "sut", "engine": engine, "label": label}
    # A permuted draft is made on the host, so the control of a single graph is evaluated in two phases.
    control = {"name": "shuffled", "role": "control", "engine": engine, "label": f"{label}, permuted vocabulary"}
    document: dict[str, Any] = {
        "name": "code",
        "title": f"Code continuations of {model}, {drafter} drafting blocks of {block_size}",
        "kind": "code",
        "model": model,
        "samples": samples,
        "repeats": repeats,
        "processes": processes,
        "seed": seed,
        "max_new_tokens": max_new_tokens,
        "ignore_turn_stop": not natural_stop,
        "workload": {"items": items},
        "arms": [
            arm | {"drafter": proposer | {"graph": graph}},
            control | {"drafter": proposer | {"shuffle_seed": SHUFFLE_SEED}},
        ],
    }
    execute(plan_of(preset_of_flags(document)), out, json_output=json_output, dry=dry, verbose=verbose)
