"""The losslessness matrix on real models: every block engine, block size and kind of draft against the oracle.

Streams go to --results as they are decoded; those that are there already are not decoded again. `--show` only prints.
"""

import argparse
import itertools
from pathlib import Path

from harness.engines.base import Block, DecodeLimit, Engine, Session
from harness.engines.lossless_matrix import NO_DRAFTS, Cell, Results, Stream, cells, table
from harness.engines.losslessness import compare_streams
from harness.engines.mlx.audit import audit
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.replay import ReplayDrafter, spoils
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.fork import fork
from harness.engines.mlx.fused import FusedEngine
from harness.engines.mlx.fused_carry import FusedCarryEngine
from harness.engines.registry import DrafterRequest, EngineSettings, build
from harness.lab import Lab, open_lab
from workloads.base import digest_of
from workloads.code import TEMPLATES, Code

TIE = 1e-3
"""Logits; f32 forwards of different length differ by up to 5e-5."""
ENGINES = {engine.name: engine for engine in (FusedEngine, FusedCarryEngine)}
DRAFTS = ("ngram", "shuffled", *spoils(1))


def prompt_of(lab: Lab, length: int) -> tuple[int, ...]:
    """A code prompt cut to exactly `length` tokens; the length decides what it is about."""
    made = Code(items=40, samples=len(TEMPLATES), seed=length).prompts(lab.text)
    first = length // 100 % len(made)
    return tuple(itertools.chain.from_iterable(prompt.tokens for prompt in made[first:] + made))[:length]


def drafter_of(lab: Lab, cell: Cell, whole: list[int]) -> Drafter:
    """Prompt lookup, prompt lookup through a permuted vocabulary, or the known stream, spoilt."""
    vocab = lab.verifier.facts.vocab
    if cell.drafts in ("ngram", NO_DRAFTS):
        return NgramDrafter()
    if cell.drafts == "shuffled":
        return ShuffledDrafter(NgramDrafter(), vocab, seed=1)
    return ReplayDrafter(whole, spoils(vocab, seed=cell.block_size)[cell.drafts])


def decode(engine: Engine, session: Session, tokens: int) -> tuple[list[int], list[Block]]:
    """The stream and its blocks."""
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    return [session.first_token, *(token for block in blocks for token in block.tokens)], blocks


def run(lab: Lab, prompt: tuple[int, ...], left: list[Cell], results: Results, options: argparse.Namespace) -> None:
    """Decode the cells that are left for one prompt; the prompt is read once for each engine."""
    oracle_engine = build("ar", lab.verifier, EngineSettings())
    oracle, _ = decode(oracle_engine, oracle_engine.prefill(prompt), options.tokens)
    of_oracle = audit(lab.verifier, prompt, oracle)
    sessions = {}
    for cell in left:
        settings = EngineSettings(drafter=DrafterRequest("ngram", block_size=cell.block_size))
        drafter = drafter_of(lab, cell, [*prompt, *oracle])
        engine = ENGINES[cell.engine](lab.verifier, settings, drafter)
        if cell.engine not in sessions:
            reader = ENGINES[cell.engine](lab.verifier, settings, NgramDrafter())
            sessions[cell.engine] = reader.prefill(prompt)
        stream, blocks = decode(engine, fork(sessions[cell.engine], drafter, prompt), options.tokens)
        of_stream = of_oracle if stream == oracle else audit(lab.verifier, prompt, stream)
        compared = compare_streams(oracle, stream, [of_oracle, of_stream], TIE)
        found = Stream(
            model=options.model,
            engine=cell.engine,
            drafts=cell.drafts,
            block_size=cell.block_size,
            prompt=digest_of(str(prompt)),
            prompt_tokens=len(prompt),
            tokens=len(stream),
            blocks=len(blocks),
            drafted=sum(block.drafted for block in blocks),
            accepted=sum(block.accepted for block in blocks),
            outcome=compared.outcome,
            position=compared.position,
            gap=compared.gap,
        )
        results.add(found)
        print(found.model_dump_json(exclude={"prompt", "model"}, exclude_none=True), flush=True)


def main() -> int:
    """Decode what is not in the results yet and print the table; 1 if any stream diverged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--lengths", type=int, nargs="+", default=[700, 1500, 3000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--drafts", nargs="+", choices=DRAFTS, default=list(DRAFTS))
    parser.add_argument("--results", type=Path, default=Path("losslessness.jsonl"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    results = Results(options.results)
    if not options.show:
        lab, wanted = open_lab(options.model), list(cells(options.engines, options.drafts, options.sizes))
        for prompt in (prompt_of(lab, length) for length in options.lengths):
            mark = (digest_of(str(prompt)), options.tokens)
            left = [cell for cell in wanted if not results.has(options.model, cell, *mark)]
            if left:
                run(lab, prompt, left, results, options)
    print(table(results.streams))
    return 1 if any(one.outcome == "divergent" for one in results.streams) else 0


if __name__ == "__main__":
    raise SystemExit(main())
