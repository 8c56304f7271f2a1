"""The engines on PyTorch against transformers' own, as ratios of one run: the oracle against `generate`, and blocks
against assisted generation with as many drafts, by lookup and by the model drafting for itself."""

import argparse
import statistics
from collections import defaultdict

import torch

from harness.base.clock import now
from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.runs.loaded.loading import load_torch_models
from harness.runs.loaded.torch_models import LoadedTorchModels
from workloads.code import Code

LEAST = {
    "ar / generate": 0.98,
    "fused ngram / transformers-assisted ngram": 1.0,
    "fused model / transformers-assisted model": 1.0,
}
"""The least that a median may be."""


class Heard:
    """A streamer of transformers': when each token after the prompt was known."""

    def __init__(self) -> None:
        self.stream: list[int] = []
        self.times: list[float] = []

    def put(self, tokens: torch.Tensor) -> None:
        """The prompt, then a token a call; by the time it is on the host it is computed."""
        self.stream += tokens.flatten().tolist()
        self.times.append(now())

    def end(self) -> None:
        """Nothing follows."""


def generate(loaded: LoadedTorchModels, prompt: tuple[int, ...], tokens: int) -> tuple[list[int], float]:
    """The stream of `generate`, and its decode tok/s: first token known to last token known."""
    model, heard = loaded.verifier.model, Heard()
    read = torch.tensor([list(prompt)], device=model.device)
    model.generate(read, max_new_tokens=tokens, do_sample=False, eos_token_id=None, pad_token_id=0, streamer=heard)
    return heard.stream[len(prompt) :], (tokens - 1) / (heard.times[-1] - heard.times[1])


def decode(engine: Engine, prompt: tuple[int, ...], tokens: int) -> tuple[list[int], list[Block], float]:
    """The stream, its blocks, and the decode tok/s of one prompt: where it is drafted, of all blocks but the first, in
    which transformers lets a draft model read the prompt."""
    session = engine.prefill(prompt)
    start = now()
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    counted, seconds = blocks, now() - start
    if engine.kind.drafts and len(blocks) > 1:
        counted = blocks[1:]
        seconds = sum(block.seconds for block in counted)
    stream = [session.first_token, *(token for block in blocks for token in block.tokens)]
    return stream, blocks, sum(len(block.tokens) for block in counted) / seconds


def engines(loaded: LoadedTorchModels, model: str) -> dict[str, Engine]:
    """The oracle, and ours and theirs by lookup and with a draft model."""
    lookup = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=8))
    itself = EngineSettings(drafter=DrafterSpec(kind="model", model=model, block_size=4))
    arms = {"ar": build("ar", loaded.verifier, EngineSettings())}
    for name in ("fused", "transformers-assisted"):
        arms[f"{name} ngram"] = build(name, loaded.verifier, lookup)
        arms[f"{name} model"] = build(name, loaded.verifier, itself)
    return arms


def main() -> int:
    """Interleave all, prompt by prompt; print medians of the paired ratios; 1 if one is too low or a stream differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--device", default="cpu")
    for name, default in (("samples", 5), ("tokens", 64), ("items", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    loaded = load_torch_models(options.model, device=options.device)
    arms = engines(loaded, options.model)
    prompts = Code(items=options.items, samples=options.samples, seed=1).prompts(loaded.text)
    speeds: defaultdict[str, list[float]] = defaultdict(list)
    drafted: defaultdict[str, int] = defaultdict(int)
    equal: defaultdict[str, int] = defaultdict(int)
    for engine in arms.values():
        decode(engine, prompts[0].tokens, 4)
    for index, prompt in enumerate(prompts):
        wanted, speed = generate(loaded, prompt.tokens, options.tokens)
        speeds["generate"].append(speed)
        for name in list(arms) if index % 2 == 0 else list(arms)[::-1]:
            stream, blocks, speed = decode(arms[name], prompt.tokens, options.tokens)
            speeds[name].append(speed)
            drafted[name] += sum(block.drafted for block in blocks)
            equal[name] += stream == wanted
    low = 0
    for pair, least in LEAST.items():
        ours, theirs = pair.split(" / ")
        ratios = [one / other for one, other in zip(speeds[ours], speeds[theirs], strict=True)]
        median = statistics.median(ratios)
        low += median < least
        print(f"{pair:<44} {median:.3f}  ({min(ratios):.3f} to {max(ratios):.3f}, n={len(ratios)}); at least {least:g}")
    for name, same in equal.items():
        print(f"{name:<44} {same} of {len(prompts)} streams equal generate's, {drafted[name]} tokens drafted")
    return 1 if low or min(equal.values()) < len(prompts) else 0


if __name__ == "__main__":
    raise SystemExit(main())
