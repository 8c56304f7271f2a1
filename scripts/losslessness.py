"""The losslessness matrix on real models: every block engine, block size and kind of draft against the oracle."""

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator

from harness.engines.base import DecodeLimit, Engine
from harness.engines.losslessness import Comparison, compare_streams
from harness.engines.mlx.audit import audit
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.replay import ReplayDrafter, spoils
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.fused import FusedEngine
from harness.engines.mlx.fused_carry import FusedCarryEngine
from harness.engines.registry import DrafterRequest, EngineSettings, build
from harness.lab import Lab, open_lab
from workloads.code import TEMPLATES, Code

TIE = 1e-3
"""Logits; f32 forwards of different length differ by up to 5e-5."""
ENGINES = {engine.name: engine for engine in (FusedEngine, FusedCarryEngine)}


def prompts_of(lab: Lab, lengths: list[int]) -> Iterator[tuple[int, ...]]:
    """One code prompt a length, cut to exactly that many tokens; languages take turns."""
    for index, length in enumerate(lengths):
        made = Code(items=40, samples=len(TEMPLATES), seed=index).prompts(lab.text)
        whole = tuple(itertools.chain.from_iterable(prompt.tokens for prompt in made[index % len(made) :] + made))
        yield whole[:length]


def decode(engine: Engine, prompt: tuple[int, ...], tokens: int) -> tuple[list[int], int]:
    """The stream, and how many drafts were accepted."""
    session = engine.prefill(prompt)
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    return [session.first_token, *(t for block in blocks for t in block.tokens)], sum(b.accepted for b in blocks)


def drafters(lab: Lab, whole: list[int]) -> dict[str, Drafter]:
    """Good, random, adversarial and shuffled ones."""
    vocab = lab.verifier.facts.vocab
    replayed = {name: ReplayDrafter(whole, spoil) for name, spoil in spoils(vocab).items()}
    return {"ngram": NgramDrafter(), "shuffled": ShuffledDrafter(NgramDrafter(), vocab, seed=1), **replayed}


def cases(lab: Lab, options: argparse.Namespace) -> Iterator[tuple[str, Comparison]]:
    """Run the matrix; yields what was run and how it compares."""
    for prompt in prompts_of(lab, options.lengths):
        oracle, _ = decode(build("ar", lab.verifier, EngineSettings()), prompt, options.tokens)
        of_oracle = audit(lab.verifier, prompt, oracle)
        for name, drafter in drafters(lab, [*prompt, *oracle]).items():
            if options.drafts and name not in options.drafts:
                continue
            for engine, size in itertools.product(options.engines, options.sizes):
                settings = EngineSettings(drafter=DrafterRequest("ngram", block_size=size))
                stream, accepted = decode(ENGINES[engine](lab.verifier, settings, drafter), prompt, options.tokens)
                of_stream = of_oracle if stream == oracle else audit(lab.verifier, prompt, stream)
                compared = compare_streams(oracle, stream, [of_oracle, of_stream], TIE)
                yield f"{len(prompt)} tokens, {engine}, block {size}, {name}, accepted {accepted}", compared


def main() -> int:
    """Print every case and the counts; 1 if any diverged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--lengths", type=int, nargs="+", default=[700, 1500, 3000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--drafts", nargs="+", help="all of them unless named")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for case, compared in cases(open_lab(options.model), options):
        counts[compared.outcome] += 1
        print(f"{compared.outcome:<10} {case} {compared.position or ''} {compared.gap or ''}", flush=True)
    print(f"{options.model}: {counts['exact']} exact, {counts['near_tie']} near ties, {counts['divergent']} divergent")
    return 1 if counts["divergent"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
