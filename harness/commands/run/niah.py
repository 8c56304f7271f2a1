"""`k3 niah`: a needle run from flags instead of a preset. One arm and its control, beside the oracle."""

from typing import Annotated, Any, get_args

import typer

from harness.base.errors import UsageError
from harness.commands.run.eval import execute
from harness.commands.run.options import Dry, Json, Model, Out, Processes, Repeats, Samples, Seed, Verbose, choice
from harness.commands.trust_option import TrustCode
from harness.engines.spec import LAYER_NAMES, Eviction
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags
from reports.engines import INCREMENTAL
from reports.restorations import RESTORATIONS

TESTED = tuple(mode for mode, kind in RESTORATIONS.items() if kind.restores or not kind.evicts)
"""Modes of an arm under test; the one that evicts and restores nothing is its control."""


def command(
    model: Model = "smollm2-135m",
    lines: Annotated[int, typer.Option(help="Mean haystack size in lines.")] = 70,
    restoration: Annotated[str, choice(TESTED, "Of the arm under test.")] = "identity",
    f_theta: Annotated[str | None, typer.Option("--f-theta", help="The maps of restoration f_theta.")] = None,
    exact_layers: Annotated[str, typer.Option(help=f"{', '.join(LAYER_NAMES)} or 18,19,20.")] = "none",
    sink: Annotated[int, typer.Option(help="Leading positions kept.")] = 4,
    window: Annotated[int, typer.Option(help="Last positions kept.")] = 64,
    eviction: Annotated[str, choice(get_args(Eviction), "When what is outside both is dropped.")] = "strict",
    max_new_tokens: Annotated[int, typer.Option(help="Budget of a stream.")] = 16,
    samples: Samples = 5,
    repeats: Repeats = 1,
    processes: Processes = 1,
    seed: Seed = 42,
    out: Out = None,
    json_output: Json = False,
    dry: Dry = False,
    verbose: Verbose = False,
    trust_code: TrustCode = False,
) -> None:
    """Needle recall of one restoration mode, beside its control.

    The control drops the same K/V, and must fail.
    """
    bounded = {"exact_layers": parse_exact_layers(exact_layers), "sink": sink, "window": window, "eviction": eviction}
    arm: dict[str, Any] = {"name": restoration, "role": "sut", "engine": INCREMENTAL.name}
    arms = [arm | {"restoration": restoration, "label": f"k3 incremental, restoration {restoration}"}]
    if restoration != "none":
        control = {"name": "ablate", "role": "control", "engine": INCREMENTAL.name, "restoration": "ablate"}
        maps = {"f_theta": f_theta} if f_theta is not None else {}
        arms = [arms[0] | bounded | maps, control | bounded]
    document: dict[str, Any] = {
        "name": "niah",
        "title": f"Needle recall of {model}, restoration {restoration}",
        "kind": "niah",
        "model": model,
        "samples": samples,
        "repeats": repeats,
        "processes": processes,
        "seed": seed,
        "max_new_tokens": max_new_tokens,
        "workload": {"lines": lines},
        "arms": arms,
    }
    execute(plan_of(preset_of_flags(document)), out, json_output=json_output, dry=dry, verbose=verbose)


def parse_exact_layers(text: str) -> str | tuple[int, ...]:
    """A layer type, or layer numbers separated by commas.

    Raises:
        UsageError: neither of the two.
    """
    if text in LAYER_NAMES:
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--exact-layers {text!r}: give {', '.join(LAYER_NAMES)} or 18,19,20") from error
