"""Peak memory of prefill over prompt length: linear growth means no score matrix over the whole prompt."""

import argparse
import random

from harness.engines.base import Engine
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels

GROWTH = 1.25
"""How much faster than the length the peak may grow; a matrix of scores would grow with its square."""


def peak(loaded: LoadedMlxModels, engine: Engine, length: int) -> int:
    """Peak bytes of one prefill of `length` tokens, weights not counted."""
    vocab = loaded.verifier.architecture.vocab
    tokens = [random.Random(position).randrange(vocab) for position in range(length)]
    engine.prefill(tokens[:8])
    loaded.reset_peak()
    resting = loaded.held()
    engine.prefill(tokens)
    return loaded.peak() - resting


def main() -> int:
    """Print peaks and their growth against the growth of the length; 1 if they grow much faster."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--lengths", type=int, nargs="+", default=[1500, 3000, 6000])
    options = parser.parse_args()
    loaded, lengths = load_models(options.model), options.lengths
    engines = {"oracle": build("ar", loaded.verifier, EngineSettings())}
    for mode in ("identity", "ablate"):
        engines[mode] = build(
            "incremental", loaded.verifier, EngineSettings(restoration=RestorationSpec(restoration=mode))
        )
    wrong = 0
    for name, engine in engines.items():
        peaks = [peak(loaded, engine, length) for length in lengths]
        longer, more = lengths[-1] / lengths[0], peaks[-1] / peaks[0]
        wrong += more > longer * GROWTH
        print(name, *(f"{length}: {value / 1e6:.0f} MB" for length, value in zip(lengths, peaks, strict=True)))
        print(f"  {longer:.2f} times the length takes {more:.2f} times the memory; at most {longer * GROWTH:.2f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
