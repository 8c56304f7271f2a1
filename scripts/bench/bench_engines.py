"""Decode speed as ratios of one run: the oracle against mlx-lm's own loop and itself, restoration, bookkeeping."""

import argparse
import statistics
from collections import defaultdict

from harness.base.clock import now
from harness.engines.base import DecodeLimit, Engine
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels
from workloads.base import Prompt
from workloads.niah import Niah

BOUNDS = {
    "oracle / mlx_lm.stream_generate": (0.9, 1.25),
    "oracle again / oracle": (0.8, 1.25),
    "identity / oracle": (0.5, 1.25),
    "ablate / oracle": (0.5, 2.0),
    "bookkeeping / decode": (0.0, 0.01),
}
"""The least and the most that a median may be; wide enough for a machine that does other things, too."""


def stream_generate(loaded: LoadedMlxModels, prompt: Prompt, tokens: int) -> float:
    """Decode tok/s of `mlx_lm.stream_generate`, by the same clock: first token known to last token known."""
    from mlx_lm import stream_generate

    tokenizer = loaded.verifier.tokenizer
    stream = stream_generate(
        loaded.verifier.model, tokenizer, list(prompt.tokens), max_tokens=tokens, prefill_step_size=512
    )
    next(stream)
    start, count = now(), 0
    for _ in stream:
        count += 1
    return count / (now() - start)


def engine_speed(engine: Engine, prompt: Prompt, tokens: int) -> tuple[float, float]:
    """Decode tok/s of one of our engines; the share of that time which one `stats` call and two clock reads took."""
    session = engine.prefill(prompt.tokens)
    start = now()
    engine.stats(session)
    counted = now()
    count = sum(len(block.tokens) for block in engine.decode(session, DecodeLimit(tokens, {})))
    end = now()
    return count / (end - counted), (counted - start) / (end - start)


def engines(loaded: LoadedMlxModels) -> dict[str, Engine]:
    """The oracle twice, and the incremental engine with everything put back and with nothing."""
    oracle = {name: build("ar", loaded.verifier, EngineSettings()) for name in ("oracle", "oracle again")}
    modes = {mode: EngineSettings(restoration=RestorationSpec(restoration=mode)) for mode in ("identity", "ablate")}
    return oracle | {mode: build("incremental", loaded.verifier, settings) for mode, settings in modes.items()}


def main() -> int:
    """Interleave all arms, print medians of the paired ratios; 1 if one is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    for name, default in (("rounds", 5), ("tokens", 48), ("lines", 38)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    loaded = load_models(options.model)
    arms = engines(loaded)
    niah = Niah(lines=options.lines, samples=1, seed=0, sink=4, window=64, style=loaded.text.style("auto"))
    prompt = niah.prompts(loaded.text)[0]
    for engine in arms.values():
        engine_speed(engine, prompt, 2)
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    for round_ in range(options.rounds):
        names = list(arms) if round_ % 2 == 0 else list(arms)[::-1]
        theirs = stream_generate(loaded, prompt, options.tokens)
        found = {name: engine_speed(arms[name], prompt, options.tokens) for name in names}
        speed, share = found["oracle"]
        ratios["oracle / mlx_lm.stream_generate"].append(speed / theirs)
        for name in list(arms)[1:]:
            ratios[f"{name} / oracle"].append(found[name][0] / speed)
        ratios["bookkeeping / decode"].append(share)
    wrong = 0
    for name, (low, high) in BOUNDS.items():
        values = ratios[name]
        fine = low <= statistics.median(values) <= high
        wrong += not fine
        print(
            f"{name:<34} {statistics.median(values):.4f}  ({min(values):.4f} to {max(values):.4f}, n={len(values)}); "
            f"{'within' if fine else 'OUT OF'} {low:g} to {high:g}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
