"""Decode speed as ratios of one run: the oracle against mlx-lm's own loop, identity against the oracle, bookkeeping."""

import statistics
import sys

from harness.base.clock import now
from harness.engines.base import DecodeLimit, Engine
from harness.plans.plan import make_plan
from harness.plans.preset_file import load_preset
from harness.runs.loaded_verifier import Lab, open_lab
from harness.runs.timed_run import Prepared, prepare
from workloads.base import Prompt

ROUNDS = 5
TOKENS = 48


def stream_generate(lab: Lab, prompt: Prompt) -> float:
    """Decode tok/s of `mlx_lm.stream_generate`, by the same clock: first token known to last token known."""
    from mlx_lm import stream_generate

    tokenizer = lab.verifier.tokenizer
    stream = stream_generate(
        lab.verifier.model, tokenizer, list(prompt.tokens), max_tokens=TOKENS, prefill_step_size=512
    )
    next(stream)
    start, count = now(), 0
    for _ in stream:
        count += 1
    return count / (now() - start)


def engine_speed(engine: Engine, prompt: Prompt) -> float:
    """Decode tok/s of one of our engines."""
    session = engine.prefill(prompt.tokens)
    start = now()
    count = sum(len(block.tokens) for block in engine.decode(session, DecodeLimit(TOKENS, {})))
    return count / (now() - start)


def bookkeeping(engine: Engine, prompt: Prompt) -> float:
    """Share of a row's decode time spent in what measuring adds: one `stats` call and the row's two clock reads."""
    session = engine.prefill(prompt.tokens)
    start = now()
    engine.stats(session)
    counted = now()
    for _ in engine.decode(session, DecodeLimit(TOKENS, {})):
        pass
    return (counted - start) / (now() - start)


def main(model: str) -> None:
    """Interleave all arms, print medians of the paired ratios."""
    plan = make_plan(load_preset("demo", ["samples=1", f"model={model}"]))
    prepared: Prepared = prepare(plan, open_lab(model))
    prompt = prepared.prompts["main", 0]
    engines = {name: prepared.engines[name] for name in ("oracle", "oracle_again", "identity", "ablate")}
    ratios: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {"oracle": [], "identity": []}
    for engine in engines.values():
        engine_speed(engine, prompt)
    for round_ in range(ROUNDS):
        names = list(engines) if round_ % 2 == 0 else list(engines)[::-1]
        theirs = stream_generate(prepared.lab, prompt)
        speeds = {name: engine_speed(engines[name], prompt) for name in names}
        ratios.setdefault("oracle / mlx_lm.stream_generate", []).append(speeds["oracle"] / theirs)
        for name in ("oracle_again", "identity", "ablate"):
            ratios.setdefault(f"{name} / oracle", []).append(speeds[name] / speeds["oracle"])
        for name, seen in shares.items():
            seen.append(bookkeeping(engines[name], prompt))
    for name, values in ratios.items():
        print(f"{name:<34} {statistics.median(values):.3f}  ({min(values):.3f} to {max(values):.3f}, n={ROUNDS})")
    for name, values in shares.items():
        print(f"bookkeeping / decode of {name:<10} {statistics.median(values):.5f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "smollm2-135m")
