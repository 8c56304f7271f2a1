"""Blocks of two runtimes of a drafter, made by hand."""

from hypothesis import strategies as st

from reports.records.drafter_parity import ParityBlock, ParityResult

WEIGHTS = "sha256:" + "a" * 64


tokens = st.lists(st.integers(0, 9), max_size=8).map(tuple)


def block(number: int, reference: tuple[int, ...], candidate: tuple[int, ...]) -> ParityBlock:
    """One compared block of sample 0."""
    return ParityBlock(
        sample=0, block=number, context_tokens=10, reference_tokens=reference, candidate_tokens=candidate
    )


def parity(*blocks: ParityBlock, candidate: str = "mlx") -> ParityResult:
    """A comparison of torch with `candidate`."""
    return ParityResult(drafter_weights=WEIGHTS, reference_runtime="torch", candidate_runtime=candidate, blocks=blocks)


def blocks(count: int, size: int = 8) -> tuple[ParityBlock, ...]:
    """Distinct blocks that agree."""
    tokens = [tuple(range(number, number + size)) for number in range(count)]
    return tuple(block(number, ids, ids) for number, ids in enumerate(tokens))
