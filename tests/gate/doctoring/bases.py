"""The honest reports that are doctored: every kind, with few and many samples, repeats and arms, on calm and noisy
machines, from seeds."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from reports.report import Report
from tests.gate import honest
from tests.gate.honest import Setup

BASES = 48

_SUTS = (("identity",), ("f_theta",), ("native",), ("identity", "f_theta", "native"))
_DRAFTS = (("dflash", "ngram"), ("ngram",), ("dflash",), ("native", "ngram"), ("native",))
_BUILD: dict[str, Callable[[Setup], Report]] = {
    "niah": honest.measured_niah,
    "code": honest.measured_code,
    "parity": honest.measured_parity,
    "kv_quant": honest.measured_kv_quant,
}


@dataclass(frozen=True)
class Base:
    """An honest run as measured: what it has to say is settled by the gate, later."""

    number: int
    kind: str
    setup: Setup
    measured: Report = field(repr=False)


@cache
def base(number: int) -> Base:
    """The base of this number; the same one every time."""
    rng = random.Random(f"base/{number}")
    kind = ("niah", "code", "niah", "code", "niah", "code", "parity", "kv_quant")[number % 8]
    # Most throughput reports are large enough for a headline about speed.
    large = rng.random() < (0.75 if kind == "code" else 0.4)
    samples, repeats = (rng.choice((5, 6)), 3) if large else (rng.randint(2, 5), rng.randint(1, 2))
    samples += 8 if kind == "kv_quant" else 0  # a verdict on a codec needs ten
    setup = Setup(
        samples=samples,
        repeats=repeats,
        seed=rng.randrange(10**6),
        speedup=rng.uniform(1.2, 2.0),
        ngram_speedup=rng.uniform(0.8, 1.4),
        noise=rng.choice((0.002, 0.01, 0.02, 0.03)),
        drift=rng.choice((0.0, 0.0, 0.03, -0.02)),
        max_new_tokens=rng.choice((40, 48)),
        prompt_tokens=rng.choice((300, 620, 1200)),
        suts=rng.choice(_SUTS),
        acceptance=rng.uniform(0.6, 0.85),
        draft_arms=rng.choice(_DRAFTS),
    )
    return Base(number, kind, setup, _BUILD[kind](setup))
