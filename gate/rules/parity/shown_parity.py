"""What the blocks of a parity report show, and why they do not show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.drafter_parity import compared, disagreements
from gate.rulebook.rule import Fault
from gate.rulebook.thresholds import MIN_PARITY_TOKENS
from gate.rules.parity.recorded_reference import BLOCKS, recording_faults
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.drafter_parity import ParityBlock, ParityResult
    from reports.report import Report


PARITY_REQUIRED = "PARITY_REQUIRED"
"""Code of the rule whose finding depends on reports beside the judged one."""


def parity_faults(report: Report) -> Iterator[Fault]:
    """Why the report's blocks do not show parity: what is wrong, the figure found and the one allowed."""
    parity = report.parity
    if parity is None:
        return
    if parity.reference_runtime == parity.candidate_runtime:
        runtime = parity.candidate_runtime
        yield Fault(BLOCKS, f"{runtime} was compared with itself", runtime, "another runtime")
    yield from recording_faults(report)
    unknown = [block for block in parity.blocks if not block.reference_tokens]
    if unknown:
        first = f"first: sample {unknown[0].sample}, block {unknown[0].block}"
        message = f"the reference has no proposal for {len(unknown)} of {len(parity.blocks)} blocks ({first})"
        yield Fault(BLOCKS, message, str(len(unknown)), "0")
    wrong = [block for block in parity.blocks if block.reference_tokens and disagreements(block)]
    if wrong:
        missed, total = sum(map(disagreements, wrong)), sum(map(compared, parity.blocks))
        message = f"{missed} of {total} tokens differ (first: sample {wrong[0].sample}, block {wrong[0].block})"
        yield Fault(BLOCKS, message, f"{missed} of {total} tokens", "0")
    yield from _gaps(report, parity)
    tokens = sum(len(ids) for ids in {block.reference_tokens for block in parity.blocks})
    if tokens < MIN_PARITY_TOKENS.value:
        message = f"{tokens} tokens of distinct blocks were compared; more samples or blocks are needed"
        yield Fault(BLOCKS, message, str(tokens), f"at least {MIN_PARITY_TOKENS.value}")


def _gaps(report: Report, parity: ParityResult) -> Iterator[Fault]:
    """Blocks or tokens that were compared and are not there: whole blocks, numbered from 0, as many in every sample."""
    blocks: dict[int, list[ParityBlock]] = {}
    for block in parity.blocks:
        blocks.setdefault(block.sample, []).append(block)
    most = max((len(of_sample) for of_sample in blocks.values()), default=0)
    for sample, of_sample in sorted(blocks.items()):
        numbers, contexts = [block.block for block in of_sample], [block.context_tokens for block in of_sample]
        if numbers != list(range(most)):
            shown = ", ".join(map(str, numbers[:8]))
            yield Fault(BLOCKS, f"sample {sample} has blocks {shown}; {most} were compared", shown, f"0 to {most - 1}")
            break
        if contexts[0] <= 0 or contexts != sorted(contexts):
            yield Fault(
                BLOCKS,
                f"the contexts of sample {sample} do not grow: {contexts[:8]}",
                str(contexts[:8]),
                "growing contexts",
            )
            break
    sizes = sorted({len(ids) for block in parity.blocks for ids in (block.reference_tokens, block.candidate_tokens)})
    if len(sizes) > 1:
        yield Fault(
            BLOCKS,
            f"blocks of {sizes[0]} to {sizes[-1]} tokens; whole blocks are compared",
            str(sizes[0]),
            str(sizes[-1]),
        )
    planned = report.plan.samples if report.plan is not None and report.kind == "parity" else None
    if planned is not None and (len(blocks) != planned or sorted(blocks) != list(range(len(blocks)))):
        yield Fault(
            BLOCKS, f"{number_of(len(blocks), 'sample')} compared, {planned} planned", str(len(blocks)), str(planned)
        )


def parity_shown(report: Report) -> frozenset[str]:
    """What the report's own blocks show, as `parity_key`s; whether the report is citable, a judge says.

    A recording shows nothing of the runtime it was made in, which did not run.
    """
    parity = report.parity
    if parity is None or parity.drafter_weights is None or any(parity_faults(report)):
        return frozenset()
    runtimes = (parity.candidate_runtime, *((parity.reference_runtime,) if parity.recording is None else ()))
    return frozenset(parity_key(parity.drafter_weights, runtime) for runtime in runtimes)


def parity_key(weights: str, runtime: str) -> str:
    """Names a drafter's weights in one of the runtimes that were compared."""
    return f"{weights} in {runtime}"
