"""Throughput on code: oracle twice, and arms that draft or decode plainly."""

import random
from collections.abc import Callable

from reports.records.measurement import DrafterInfo
from reports.report import Report
from tests.gate.honest.machine import model
from tests.gate.honest.parity import parity_blocks
from tests.gate.honest.prompts import prompts_of
from tests.gate.honest.recipes import Recipe, Stream, native, oracles, toy_ids
from tests.gate.honest.runs import assemble
from tests.gate.honest.setup import DRAFT_DEPTH, Setup, digest

_NAMES = ("value", "index", "total", "item", "size", "name", "key", "rows", "part", "left", "right", "state")
_CALLS = ("len", "sum", "sorted", "list", "int", "repr", "max", "min", "tuple", "next")


def measured_code(setup: Setup) -> Report:
    """A throughput report before judgement."""

    def say(sample: int) -> Stream:
        rng = random.Random(f"code/{setup.seed}/{sample}")
        pieces = [piece for _ in range(setup.max_new_tokens) for piece in _line(rng)][: setup.max_new_tokens]
        return Stream(toy_ids(pieces), "".join(pieces), "length")

    recipes = [*oracles(say), *(_code_sut(name, say) for name in setup.draft_arms)]
    prompts = prompts_of(setup, [None] * setup.samples, ("main",))
    drafter = (model("drafter", "dflash-smollm2"),) if "dflash" in setup.draft_arms else ()
    report = assemble("code", setup, recipes, prompts, drafter, stops=False)
    return report.replace(parity=parity_blocks(setup)) if drafter else report


def _code_sut(name: str, say: Callable[[int], Stream]) -> Recipe:
    if name == "native":
        return native(say)
    dflash = name == "dflash"
    info = DrafterInfo(
        name="dflash" if dflash else "ngram",
        weights=digest("dflash-smollm2") if dflash else None,
        runtime="mlx" if dflash else "python",
        dtype="float32" if dflash else None,
        block_size=DRAFT_DEPTH + 1,
        rollback="trim",
        graph="two_phase",
    )
    return Recipe(f"fused_{name}", "sut", "fused", say, label=f"k3 fused, {info.name}", drafter=info)


def _line(rng: random.Random) -> list[str]:
    """A line that no other file has: the numbers of its names keep the streams of two prompts apart."""
    target, argument = (f"{rng.choice(_NAMES)}{rng.randrange(10**6)}" for _ in range(2))
    call = rng.choice(_CALLS)
    return ["    ", target, " =", f" {call}", "(", argument, ")", "\n"]
