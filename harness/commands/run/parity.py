"""`k3 parity`: the MLX drafter against its PyTorch reference, from flags instead of a preset."""

from typing import Annotated, get_args

import typer

from harness.commands.run.eval import execute
from harness.commands.run.options import BlockSize, Dry, Items, Json, Model, Out, Samples, Seed, Verbose, choice
from harness.commands.trust_option import TrustCode
from harness.engines.spec import Dtype
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags
from reports.drafters import DFLASH, DFLASH_TORCH, RECORDED


def command(
    drafter: Annotated[str, typer.Option("--drafter", help="The DFlash checkpoint, named as --model is.")],
    model: Model = "smollm2-135m",
    dtype: Annotated[str, choice(get_args(Dtype), "Of the MLX drafter.")] = "float32",
    reference_dtype: Annotated[str | None, choice(get_args(Dtype), "Of the reference; default: --dtype.")] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Hold it to PyTorch's proposals as K3 ships them; needs no PyTorch.")
    ] = False,
    block_size: BlockSize = 8,
    blocks: Annotated[int, typer.Option(help="Blocks compared after every prompt.")] = 8,
    items: Items = 12,
    samples: Samples = 5,
    seed: Seed = 42,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Compare a drafter's two runtimes token by token.

    Agreement unlocks throughput claims for its weights.
    """
    reference = RECORDED if recorded else DFLASH_TORCH.kind
    document = {
        "name": "parity",
        "title": f"Drafter parity on {model}, MLX against PyTorch{', recorded,' * recorded} in {dtype}",
        "kind": "parity",
        "model": model,
        "drafter": drafter,
        "candidate": {"kind": DFLASH.kind, "dtype": dtype},
        "reference": {"kind": reference, "dtype": reference_dtype or dtype},
        "block_size": block_size,
        "blocks": blocks,
        "samples": samples,
        "seed": seed,
        "workload": {"items": items},
    }
    execute(plan_of(preset_of_flags(document)), out, json_output=json_output, dry=dry, verbose=verbose)
