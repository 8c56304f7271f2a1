"""Peak memory of prefill over prompt length: linear growth means no score matrix over the whole prompt."""

import random
import sys

from harness.plans.plan import make_plan
from harness.plans.preset_file import load_preset
from harness.runs.loaded_verifier import Lab, open_lab
from harness.runs.timed_run import prepare

LENGTHS = (1500, 3000, 6000)


def peak(lab: Lab, engine_name: str, length: int) -> int:
    """Peak bytes of one prefill of `length` tokens, weights not counted."""
    plan = make_plan(load_preset("demo", ["samples=1", "workload.lines=40"]))
    engine = prepare(plan, lab).engines[engine_name]
    vocab = lab.verifier.facts.vocab
    tokens = [random.Random(position).randrange(vocab) for position in range(length)]
    engine.prefill(tokens[:8])
    lab.reset_peak()
    resting = lab.held()
    engine.prefill(tokens)
    return lab.peak() - resting


def main(model: str) -> None:
    """Print peaks and their growth against the growth of the length."""
    lab = open_lab(model)
    for name in ("oracle", "identity", "ablate"):
        peaks = [peak(lab, name, length) for length in LENGTHS]
        print(name, *(f"{length}: {value / 1e6:.0f} MB" for length, value in zip(LENGTHS, peaks, strict=True)))
        print(f"  {LENGTHS[-1] / LENGTHS[0]:.0f} times the length takes {peaks[-1] / peaks[0]:.2f} times the memory")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "smollm2-135m")
