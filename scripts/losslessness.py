"""The losslessness matrix on real models: every block engine, block size and kind of draft against the oracle.

Streams go to --results as they are decoded; those that are there already are not decoded again. In a first pass every
cell gets one of the prompts, in turn, so that rows and columns see all of them; the passes after it fill in the rest.
`--show` only prints the table of what there is.
"""

import argparse
import itertools
from functools import cache
from pathlib import Path

from harness.checks.lossless_matrix import Cell, Results, cells, table
from harness.checks.lossless_run import DRAFTS, MatrixBackend, OraclePrompt
from harness.runs.loaded.loaded_models import LoadedModels
from harness.runs.loaded.loading import load_models, load_torch_models
from reports.engines import FUSED, FUSED_CARRY, MLX, TORCH
from reports.records.record import digest_of
from workloads.code import TEMPLATES, Code

ENGINES = (FUSED.name, FUSED_CARRY.name)


def loaded_on(backend: str, model: str) -> tuple[LoadedModels, MatrixBackend]:
    """The model on that backend, and what the matrix asks of it."""
    if backend == TORCH:
        from harness.checks.torch.matrix import MATRIX as TORCH_MATRIX

        return load_torch_models(model), TORCH_MATRIX
    loaded = load_models(model)
    from harness.checks.mlx.matrix import MATRIX as MLX_MATRIX

    return loaded, MLX_MATRIX


def tokens_of(loaded: LoadedModels, length: int) -> tuple[int, ...]:
    """A code prompt cut to exactly `length` tokens; the length decides what it is about."""
    made = Code(items=40, samples=len(TEMPLATES), seed=length).prompts(loaded.text)
    first = length // 100 % len(made)
    return tuple(itertools.chain.from_iterable(prompt.tokens for prompt in made[first:] + made))[:length]


def turn(cell: Cell, sizes: list[int]) -> int:
    """Which prompt the cell gets first."""
    kind = DRAFTS.index(cell.drafts) if cell.drafts in DRAFTS else 0
    return kind + ENGINES.index(cell.engine) + sizes.index(cell.block_size)


def run(options: argparse.Namespace, results: Results) -> None:
    """Decode what is not in the results yet."""
    loaded, backend = loaded_on(options.backend, options.model)
    prompts = [tokens_of(loaded, length) for length in options.lengths]

    @cache
    def prompt(which: int) -> OraclePrompt:
        tokens = prompts[which]
        return OraclePrompt(
            backend, loaded.verifier, options.model, digest_of(str(tokens).encode()), tokens, options.tokens
        )

    wanted = list(cells(options.engines, options.drafts, options.sizes))
    for done, cell in itertools.product(range(options.passes), wanted):
        which = (turn(cell, options.sizes) + done) % len(prompts)
        if not results.has(options.model, cell, digest_of(str(prompts[which]).encode()), options.tokens):
            found = prompt(which).stream(cell)
            results.add(found)
            print(found.model_dump_json(exclude={"prompt", "model"}, exclude_none=True), flush=True)


def main() -> int:
    """Decode and print the table; 1 if any stream diverged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--backend", choices=(MLX, TORCH), default=MLX)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--lengths", type=int, nargs="+", default=[700, 1500, 3000])
    parser.add_argument("--passes", type=int, default=1, help="prompts a cell; at most as many as there are lengths")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--drafts", nargs="+", choices=DRAFTS, default=list(DRAFTS))
    parser.add_argument("--results", type=Path, default=Path("losslessness.jsonl"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    results = Results(options.results)
    if not options.show:
        run(options, results)
    print(table(results.streams))
    return 1 if any(one.outcome == "divergent" for one in results.streams) else 0


if __name__ == "__main__":
    raise SystemExit(main())
