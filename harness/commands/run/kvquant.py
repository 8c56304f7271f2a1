"""`k3 kvquant`: codecs of the K/V cache, from flags instead of a preset."""

from typing import Annotated

import typer

from harness.commands.run.eval import execute
from harness.commands.run.options import Dry, Json, Model, Out, Samples, Seed, Verbose
from harness.commands.trust_option import TrustCode
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags

CODECS = "affine8,affine4,affine3,hadamard-affine4,d4-4,hadamard-d4-4,e8-4,hadamard-e8-4"


def command(
    codecs: Annotated[str, typer.Option(help="Comma-separated: affine4, e8-4, hadamard-d4-4, affine4-g32.")] = CODECS,
    model: Model = "smollm2-135m",
    runtime_bits: Annotated[str, typer.Option(help="Of mlx-lm's own quantised cache, or none.")] = "8,4",
    lines: Annotated[int, typer.Option(help="Mean haystack size in lines.")] = 20,
    max_new_tokens: Annotated[int, typer.Option(help="Budget of an answer.")] = 16,
    samples: Samples = 5,
    seed: Seed = 42,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Measure what K/V codecs store, lose and still recall.

    The codecs identity and affine4 are always there.
    """
    document = {
        "name": "kvquant",
        "title": f"Codecs of the K/V cache of {model}",
        "kind": "kv_quant",
        "model": model,
        "samples": samples,
        "seed": seed,
        "max_new_tokens": max_new_tokens,
        "codecs": [name.strip() for name in codecs.split(",") if name.strip()],
        "runtime_bits": parse_bits(runtime_bits),
        "workload": {"lines": lines},
    }
    execute(plan_of(preset_of_flags(document)), out, json_output=json_output, dry=dry, verbose=verbose)


def parse_bits(text: str) -> list[int]:
    """A comma-separated list of whole numbers; `none` is an empty one.

    Raises:
        typer.BadParameter: something else.
    """
    try:
        return [] if text == "none" else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"--runtime-bits {text!r}: give none, or numbers as in 8,4") from error
