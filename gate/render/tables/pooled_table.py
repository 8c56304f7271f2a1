"""Ratios pooled over runs and machines, a row a machine and a row over them."""

from collections.abc import Iterator, Sequence
from typing import Any

from gate.figures.pooling.over_machines import PooledRatio
from gate.figures.pooling.random_effects import Pooled
from gate.render.tables.cells import WITHHELD
from reports.untrusted.one_line import one_line

POOLED_COLUMNS = ("preset", "settings", "claim", "machine", "runs", "ratio", "low", "high", "tau2", "i2", "note")
OVER = "over machines"


def pooled_rows(ratios: Sequence[PooledRatio]) -> Iterator[dict[str, Any]]:
    """What is of one machine, then what is of all. What may not be printed is WITHHELD, and the note says why."""
    for ratio in ratios:
        setting = ratio.setting
        start = {
            "preset": one_line(setting.preset),
            "settings": one_line(" ".join(setting.settings), 200),
            "claim": one_line(setting.claim),
        }
        for one in ratio.machines:
            yield start | {"machine": one_line(one.machine), "runs": one.pooled.studies} | _figures(one.pooled)
        runs = sum(one.pooled.studies for one in ratio.machines)
        over = start | {"machine": OVER, "runs": runs}
        if ratio.across is None:
            continue
        if ratio.withheld is None:
            yield over | _figures(ratio.across)
        else:
            told = {"ratio": WITHHELD, "tau2": ratio.across.tau2, "i2": ratio.across.i2, "note": ratio.withheld}
            yield over | told


def _figures(pooled: Pooled) -> dict[str, float | None]:
    low, high = pooled.whole.interval
    scatter = {"tau2": pooled.tau2, "i2": pooled.i2} if pooled.studies > 1 else {}
    return {"ratio": pooled.whole.ratio, "low": low, "high": high, **scatter}
