"""The engines on PyTorch against transformers' own, as ratios of one run: the oracle against `generate`, and blocks
against assisted generation with as many drafts, by lookup and by the model drafting for itself.

The two lookups draft differently, so the engines are compared over transformers' own: the same blocks of the same
tokens, or the run fails. What each does with its own lookup is told beside it, without a bound.
"""

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from transformers import LogitsProcessorList
from transformers.generation.candidate_generator import PromptLookupCandidateGenerator

from harness.base.clock import now
from harness.engines.base import Block, DecodeLimit, Engine
from harness.engines.drafters.ngram import NgramDraft, NgramDrafter
from harness.engines.drafters.suffixes import LONGEST
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.engines.torch.engines.fused import FusedEngine
from harness.runs.loaded.loading import load_torch_models
from harness.runs.loaded.torch_models import LoadedTorchModels
from workloads.code import Code

BLOCK = 8
"""Tokens of a block by lookup: the last committed one and its drafts."""

PLAIN = "generate"
PEER = "transformers-assisted ngram"
SAME_DRAFTS = "fused ngram of transformers"
LEAST: dict[str, float | None] = {
    f"ar / {PLAIN}": 0.98,
    f"{SAME_DRAFTS} / {PEER}": 1.0,
    f"fused ngram / {PEER}": None,
    "fused model / transformers-assisted model": 1.0,
}
"""The least that a median may be; none where the two drafted differently."""


class TransformersDraft(NgramDraft):
    """The tokens of one stream, looked up by the candidate generator that `generate` makes for itself."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._tokens: list[int] = []

    def propose(self, last: int, limit: int) -> list[int]:
        """What followed the first occurrence of the longest known suffix; nothing if there is none."""
        text = torch.tensor([[*self._tokens, last]])
        generator = PromptLookupCandidateGenerator(
            num_output_tokens=BLOCK - 1,
            max_matching_ngram_size=LONGEST,
            max_length=text.shape[1] + limit + 1,
            logits_processor=LogitsProcessorList(),
            vocab_size=self._vocabulary,
        )
        candidates, _ = generator.get_candidates(text)
        drafts: list[int] = candidates[0, text.shape[1] :].tolist()
        return drafts[:limit]

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Append `tokens`."""
        self._tokens += tokens


class TransformersLookup(NgramDrafter):
    """Prompt lookup as transformers does it, from the first occurrence of a suffix on, over so many tokens."""

    def __init__(self, vocabulary: int) -> None:
        self._vocabulary = vocabulary

    def begin(self) -> TransformersDraft:
        """An empty text."""
        return TransformersDraft(self._vocabulary)


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
    """The stream, its blocks, and the decode tok/s of one prompt.

    Where it is drafted, the limit is a block further off, since transformers drafts beyond it and we do not; and all
    blocks count but the first, in which transformers lets a draft model read the prompt.
    """
    session, drafts = engine.prefill(prompt), engine.kind.drafts
    start = now()
    blocks = list(engine.decode(session, DecodeLimit(tokens + BLOCK if drafts else tokens, {})))
    counted, seconds = blocks, now() - start
    if drafts:
        begun = accumulate((len(block.tokens) for block in blocks), initial=1)
        blocks = [block for block, known in zip(blocks, begun, strict=False) if known < tokens]
        counted = blocks[1:] or blocks
        seconds = sum(block.seconds for block in counted)
    stream = [session.first_token, *(token for block in blocks for token in block.tokens)]
    return stream[:tokens], blocks, sum(len(block.tokens) for block in counted) / seconds


def engines(loaded: LoadedTorchModels, model: str) -> dict[str, Engine]:
    """The oracle, ours and theirs by lookup and with a draft model, and ours by their lookup."""
    verifier = loaded.verifier
    lookup = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=BLOCK))
    itself = EngineSettings(drafter=DrafterSpec(kind="model", model=model, block_size=4))
    arms = {"ar": build("ar", verifier, EngineSettings())}
    for name in ("fused", "transformers-assisted"):
        arms[f"{name} ngram"] = build(name, verifier, lookup)
        arms[f"{name} model"] = build(name, verifier, itself)
    arms[SAME_DRAFTS] = FusedEngine(verifier, lookup, TransformersLookup(verifier.architecture.vocab))
    return arms


def show_ratios(speeds: dict[str, list[float]]) -> int:
    """Print the median of every pair's ratios, and their range; how many are too low."""
    low = 0
    for pair, least in LEAST.items():
        ours, theirs = pair.split(" / ")
        ratios = [one / other for one, other in zip(speeds[ours], speeds[theirs], strict=True)]
        median = statistics.median(ratios)
        low += least is not None and median < least
        bound = "no bound" if least is None else f"at least {least:g}"
        print(f"{pair:<60} {median:.3f}  ({min(ratios):.3f} to {max(ratios):.3f}, n={len(ratios)}); {bound}")
    return low


def main() -> int:
    """Interleave all, prompt by prompt; print medians of the paired ratios; 1 if one is too low or tokens differ."""
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
    alike = 0
    generate(loaded, prompts[0].tokens, 4)
    for engine in arms.values():
        decode(engine, prompts[0].tokens, 4)
    for index, prompt in enumerate(prompts):
        streams: dict[str, list[int]] = {}
        made: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        order = [PLAIN, *arms]
        for name in order if index % 2 == 0 else order[::-1]:
            if name == PLAIN:
                streams[name], speed = generate(loaded, prompt.tokens, options.tokens)
            else:
                streams[name], blocks, speed = decode(arms[name], prompt.tokens, options.tokens)
                drafted[name] += sum(block.drafted for block in blocks)
                made[name] = [(block.tokens, block.drafted) for block in blocks]
            speeds[name].append(speed)
        for name in arms:
            equal[name] += streams[name] == streams[PLAIN]
        alike += made[SAME_DRAFTS] == made[PEER]
    low = show_ratios(speeds)
    for name, same in equal.items():
        print(f"{name:<44} {same} of {len(prompts)} streams equal generate's, {drafted[name]} tokens drafted")
    print(f"{SAME_DRAFTS}: the blocks and drafts of {PEER} on {alike} of {len(prompts)} prompts")
    return 1 if low or min(alike, *equal.values()) < len(prompts) else 0


if __name__ == "__main__":
    raise SystemExit(main())
