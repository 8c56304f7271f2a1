"""The fused engine against the AR oracle and against mlx-lm's own speculative decoding, as ratios of one run."""

import argparse
import itertools
import statistics
from collections import defaultdict
from importlib import import_module
from typing import Any

from harness.clock import now
from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.mlx.native import chunks
from harness.engines.registry import DrafterRequest, EngineSettings, build
from harness.lab import Lab, open_lab
from workloads.code import Code

Run = tuple[list[int], float, list[Block]]


def run(engine: Engine, prompt: tuple[int, ...], tokens: int) -> Run:
    """Stream, decode tok/s (first token known to last token known) and blocks."""
    session = engine.prefill(prompt)
    start = now()
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    seconds = now() - start
    return [session.first_token, *(t for block in blocks for t in block.tokens)], (tokens - 1) / seconds, blocks


def peer(lab: Lab, prompt: tuple[int, ...], tokens: int, drafts: int) -> Run:
    """mlx-lm's speculative decoding, the verifier drafting for itself; both caches are filled before the clock.

    Caches that have wrapped cannot be handed over, so with a sliding window the prompt is read inside the clock.
    """
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache

    loop = import_module("mlx_lm.generate").speculative_generate_step
    model, caches = lab.verifier.model, None
    if lab.verifier.facts.sliding_window is None:
        verifying, drafting = make_prompt_cache(model), make_prompt_cache(model)
        for half, part in itertools.product((verifying, drafting), chunks(prompt, 512)):
            model(part, cache=half)
            mx.eval([cache.state for cache in half])
        caches = [*verifying, *drafting]
    left = mx.array(list(prompt if caches is None else prompt[-1:]))
    settings: dict[str, Any] = {"num_draft_tokens": drafts, "max_tokens": tokens, "prompt_cache": caches}
    start = now()
    stream = [int(token) for token, *_ in loop(left, model, model, **settings)]
    return stream, tokens / (now() - start), []


def show(name: str, values: list[float]) -> None:
    """Median and range."""
    print(f"{name:<52} {statistics.median(values):.3f}  ({min(values):.3f} to {max(values):.3f}, n={len(values)})")


def main() -> None:
    """Interleave the arms prompt by prompt; print medians of paired ratios, overhead and exactness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    for name, default in (("samples", 6), ("tokens", 96), ("items", 10), ("block-size", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--peer", action="store_true", help="also mlx-lm's loop, the model drafting for itself")
    options = parser.parse_args()
    lab, size = open_lab(options.model), options.block_size
    oracle = build("ar", lab.verifier, EngineSettings())
    arms = {
        f"{name} ngram": build(name, lab.verifier, EngineSettings(drafter=DrafterRequest("ngram", block_size=size)))
        for name in ("fused", "fused-carry")
    }
    if options.peer:
        request = DrafterRequest("model", model=options.model, block_size=4)
        arms = {"fused model": build("fused", lab.verifier, EngineSettings(drafter=request))}
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    exact: defaultdict[str, list[bool]] = defaultdict(list)
    prompts = Code(items=options.items, samples=options.samples, seed=1).prompts(lab.text)
    run(oracle, prompts[0].tokens, 4)
    for index, prompt in enumerate(prompts):
        names, runs = ["oracle", *arms, *(["mlx-lm"] if options.peer else [])], {}
        for name in names if index % 2 == 0 else names[::-1]:
            tokens, engine = (prompt.tokens, options.tokens), oracle if name == "oracle" else arms.get(name)
            runs[name] = peer(lab, *tokens, drafts=3) if engine is None else run(engine, *tokens)
        print(index, {name: round(speed, 1) for name, (_, speed, _) in sorted(runs.items())}, flush=True)
        for name in names[1:]:
            ratios[f"{name} / oracle, decode tok/s"].append(runs[name][1] / runs["oracle"][1])
            exact[name].append(runs[name][0] == runs["oracle"][0])
        blocks = next(runs[name][2] for name in arms)
        rest = [(block.seconds - block.draft_s - block.verify_s) / block.seconds for block in blocks]
        ratios["share of a block besides drafting and verifying"] += rest
        ratios["committed per block"].append((options.tokens - 1) / len(blocks))
    for name, values in ratios.items():
        show(name, values)
    for name, same in exact.items():
        print(f"{name:<52} {sum(same)} of {len(same)} streams equal the oracle's")


if __name__ == "__main__":
    main()
