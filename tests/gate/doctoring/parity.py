"""Drafter parity: blocks that disagreed, blocks that were never compared."""

import random

from reports.records.drafter_parity import ParityBlock, ParityResult, Recording
from reports.records.recorded_drafts import shipped_recordings
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.prompts import fresh_digest


def _blocks(report: Report, blocks: tuple[ParityBlock, ...]) -> Report:
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(blocks=blocks))


def disagreeing(report: Report) -> Report | None:
    """The truth: in every third block the runtimes disagree on a token."""
    if report.parity is None:
        return None
    blocks = tuple(
        block.replace(candidate_tokens=(7, *block.candidate_tokens[1:])) if number % 3 == 0 else block
        for number, block in enumerate(report.parity.blocks)
    )
    return _blocks(report, blocks)


@doctoring(truth=disagreeing)
def state_full_agreement(report: Report, rng: random.Random) -> Report | None:
    """Full agreement is stated, the blocks stay."""
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(stated_agreement=1.0))


@doctoring(truth=disagreeing)
def copy_reference_tokens(report: Report, rng: random.Random) -> Report | None:
    """What the reference proposed stands for what the candidate proposed."""
    assert report.parity is not None
    blocks = tuple(block.replace(candidate_tokens=block.reference_tokens) for block in report.parity.blocks)
    return _blocks(report, blocks)


@doctoring(truth=disagreeing)
def drop_disagreeing_blocks(report: Report, rng: random.Random) -> Report | None:
    """Blocks with a disagreement go."""
    assert report.parity is not None
    return _blocks(report, tuple(b for b in report.parity.blocks if b.candidate_tokens == b.reference_tokens))


@doctoring(truth=disagreeing)
def cut_disagreeing_tokens(report: Report, rng: random.Random) -> Report | None:
    """Blocks are cut before their first disagreement."""
    assert report.parity is not None

    def cut(block: ParityBlock) -> ParityBlock:
        pairs = list(zip(block.reference_tokens, block.candidate_tokens, strict=True))
        kept = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
        return block.replace(
            reference_tokens=block.reference_tokens[:kept], candidate_tokens=block.candidate_tokens[:kept]
        )

    return _blocks(report, tuple(cut(block) for block in report.parity.blocks))


@doctoring(truth=disagreeing)
def drop_parity(report: Report, rng: random.Random) -> Report | None:
    """A parity that failed goes."""
    return report.replace(parity=None)


def few_blocks(report: Report) -> Report | None:
    """The truth: two blocks were compared."""
    if report.parity is None:
        return None
    return _blocks(report, report.parity.blocks[:2])


@doctoring(truth=few_blocks)
def repeat_blocks(report: Report, rng: random.Random) -> Report | None:
    """The two blocks that were compared stand many times, under numbers of their own."""
    assert report.parity is not None
    blocks = [block.replace(block=turn * 2 + i) for turn in range(12) for i, block in enumerate(report.parity.blocks)]
    return _blocks(report, tuple(blocks))


@doctoring(truth=few_blocks)
def repeat_blocks_elsewhere(report: Report, rng: random.Random) -> Report | None:
    """The two blocks that were compared stand many times, under numbers and contexts of their own."""
    assert report.parity is not None
    blocks = [
        block.replace(block=turn * 2 + i, context_tokens=block.context_tokens + 3 * turn)
        for turn in range(12)
        for i, block in enumerate(report.parity.blocks)
    ]
    return _blocks(report, tuple(blocks))


@doctoring(truth=few_blocks)
def invent_blocks(report: Report, rng: random.Random) -> Report | None:
    """Blocks are invented, with tokens of their own."""
    assert report.parity is not None
    first = report.parity.blocks[0]
    made = []
    for number in range(2, 24):
        tokens = tuple(rng.randrange(49152) for _ in first.reference_tokens)
        made.append(
            first.replace(
                block=number, context_tokens=first.context_tokens + 3 * number, reference_tokens=tokens,
                candidate_tokens=tokens,
            )
        )  # fmt: skip
    return _blocks(report, (*report.parity.blocks, *made))


def against_itself(report: Report) -> Report | None:
    """The truth: one runtime was compared with itself."""
    parity = report.parity
    if parity is None:
        return None
    return report.replace(parity=parity.replace(reference_runtime=parity.candidate_runtime))


@doctoring(truth=against_itself)
def rename_runtime(report: Report, rng: random.Random) -> Report | None:
    """A runtime that was compared with itself gets another name on one side."""
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(reference_runtime="torch"))


@doctoring(truth=against_itself)
def cite_a_recording(report: Report, rng: random.Random) -> Report | None:
    """A runtime that was compared with itself is said to have been held to a recording, invented or shipped."""
    assert report.parity is not None
    digest = rng.choice((fresh_digest(rng), *shipped_recordings()))
    recording = Recording(digest=digest, made_with="torch 2.13.0, mlx 0.32.4, mlx-lm 0.32.2")
    return report.replace(parity=report.parity.replace(reference_runtime="torch", recording=recording))


@doctoring()
def parity_of_other_weights(report: Report, rng: random.Random) -> Report | None:
    """The parity is said to be of other weights."""
    if report.parity is None:
        return None
    return report.replace(parity=report.parity.replace(drafter_weights=rng.choice((None, fresh_digest(rng)))))


@doctoring()
def parity_of_other_runtime(report: Report, rng: random.Random) -> Report | None:
    """The parity is said to be of a runtime that was not compared."""
    if not isinstance(report.parity, ParityResult) or report.kind != "parity":
        return None
    return report.replace(parity=report.parity.replace(candidate_runtime="metal"))
