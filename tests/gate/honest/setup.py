"""What an honest report of the simulation is like: its size, its machine, its true figures."""

import hashlib
from dataclasses import dataclass, field

LAYERS = 30
BYTES_PER_LAYER_TOKEN = 1536
FEATURE_BYTES = 2304
"""Of the hidden states that f_theta reads, a position."""
SINK, WINDOW = 4, 64
F_THETA = "f-theta-smollm2"
PREFILL_S_PER_TOKEN = 0.0008
STEP_S = 0.06
DRAFT_DEPTH = 7


@dataclass(frozen=True)
class Setup:
    """The space of honest reports.

    `speedup` and `ngram_speedup` are the true speed-ups of the fused arms; `noise` is the sigma of the logarithm of
    a run's times, `drift` how much slower the last run is than the first (0.05: by 5 %). `suts` names the systems
    under test of a needle report: any of identity, f_theta, native; `draft_arms` those of a throughput report: any of
    dflash, ngram, native. `acceptance` is the chance of each draft, `ngram_share` how often the text holds a draft.
    `prompt_tokens` is the mean prompt length. `processes` is not in the name of the plan, which is that of one process.
    """

    samples: int = 6
    repeats: int = 3
    seed: int = 0
    speedup: float = 1.6
    ngram_speedup: float = 1.25
    noise: float = 0.02
    drift: float = 0.0
    max_new_tokens: int = 48
    prompt_tokens: int = 620
    suts: tuple[str, ...] = ("identity",)
    acceptance: float = 0.65
    draft_arms: tuple[str, ...] = ("dflash", "ngram")
    ngram_share: float = 0.4
    processes: int = field(default=1, repr=False)


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def microseconds(seconds: float) -> float:
    return round(seconds, 6)
