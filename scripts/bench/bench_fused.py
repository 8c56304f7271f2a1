"""The fused engine against the AR oracle and against mlx-lm's own speculative decoding, as ratios of one run."""

import argparse
import statistics
from collections import defaultdict
from dataclasses import dataclass

from harness.base.clock import now
from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.runs.loaded.loading import load_models
from harness.runs.loaded.mlx_models import LoadedMlxModels
from workloads.code import Code

OVERHEAD = 0.05
"""Share of a block that may be spent on neither of the two forwards."""


@dataclass(frozen=True)
class Run:
    """A stream, its decode tok/s (first token known to last token known) and its blocks."""

    stream: list[int]
    speed: float
    blocks: list[Block]


def run(engine: Engine, prompt: tuple[int, ...], tokens: int) -> Run:
    """Decode one prompt."""
    session = engine.prefill(prompt)
    start = now()
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    seconds = now() - start
    return Run([session.first_token, *(t for b in blocks for t in b.tokens)], (tokens - 1) / seconds, blocks)


def engines(loaded: LoadedMlxModels, model: str, size: int) -> dict[str, Engine]:
    """The oracle, prompt lookup with both ways to roll back, and the model drafting for itself, ours and mlx-lm's."""
    lookup = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=size))
    itself = EngineSettings(drafter=DrafterSpec(kind="model", model=model, block_size=4, graph="single"))
    arms = {f"{name} ngram": build(name, loaded.verifier, lookup) for name in ("fused", "fused-carry")}
    arms |= {f"{name} model": build(name, loaded.verifier, itself) for name in ("fused", "mlx-lm-speculative")}
    return {"oracle": build("ar", loaded.verifier, EngineSettings()), **arms}


def overhead(block: Block) -> float:
    """The share of a block that neither the drafter's forwards nor the verifier's took."""
    return (block.seconds - block.draft_s - block.verify_s) / block.seconds


def show(name: str, values: list[float]) -> None:
    """Median and range."""
    print(f"{name:<52} {statistics.median(values):.3f}  ({min(values):.3f} to {max(values):.3f}, n={len(values)})")


def main() -> int:
    """Interleave the arms prompt by prompt; print medians of paired ratios, overhead and exactness; 1 if it is high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    for name, default in (("samples", 5), ("tokens", 64), ("items", 10), ("block-size", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    loaded = load_models(options.model)
    arms = engines(loaded, options.model, options.block_size)
    prompts = Code(items=options.items, samples=options.samples, seed=1).prompts(loaded.text)
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    exact: defaultdict[str, list[bool]] = defaultdict(list)
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for engine in arms.values():
        run(engine, prompts[0].tokens, 4)
    for index, prompt in enumerate(prompts):
        names = list(arms) if index % 2 == 0 else list(arms)[::-1]
        runs = {name: run(arms[name], prompt.tokens, options.tokens) for name in names}
        print(index, len(prompt.tokens), {name: round(runs[name].speed, 1) for name in arms}, flush=True)
        for name in list(arms)[1:]:
            ratios[f"{name} / oracle, decode tok/s"].append(runs[name].speed / runs["oracle"].speed)
            ratios[f"{name}, committed per block"].append((options.tokens - 1) / len(runs[name].blocks))
            exact[name].append(runs[name].stream == runs["oracle"].stream)
            if not arms[name].kind.foreign:  # its rollback cannot be told from its drafting
                shares[name] += [overhead(block) for block in runs[name].blocks]
        pair = runs["fused model"].speed / runs["mlx-lm-speculative model"].speed
        ratios["fused model / mlx-lm-speculative model"].append(pair)
    for name, values in ratios.items():
        show(name, values)
    for name, values in shares.items():
        show(f"{name}, share of a block besides forwards", values)
    for name, same in exact.items():
        print(f"{name:<52} {sum(same)} of {len(same)} streams equal the oracle's")
    worst = max(statistics.median(values) for values in shares.values())
    print(f"overhead of a block: {worst:.1%} in the median of the worst engine; at most {OVERHEAD:.0%}")
    return 1 if worst > OVERHEAD else 0


if __name__ == "__main__":
    raise SystemExit(main())
