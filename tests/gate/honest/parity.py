"""Two runtimes of one drafter, block by block."""

import random
from datetime import UTC, datetime

from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.records.plan import PlanInfo, PresetInfo
from reports.report import Report
from tests.gate.honest.machine import model, provenance
from tests.gate.honest.prompts import prompts_of, workload_of
from tests.gate.honest.setup import DRAFT_DEPTH, Setup, digest


def measured_parity(setup: Setup) -> Report:
    """A parity report before judgement."""
    prompts = prompts_of(setup, [None] * setup.samples, ("main",))
    plan_digest = digest(f"parity/{setup!r}")
    return Report(
        kind="parity",
        report_id=f"parity-{plan_digest[7:19]}-20261129T161000Z",
        created_at=datetime(2026, 11, 29, 16, 10, tzinfo=UTC),
        preset=PresetInfo(name="parity", digest=digest("parity")),
        provenance=provenance((model("drafter", "dflash-smollm2"),)),
        workload=workload_of("parity", setup, prompts),
        plan=PlanInfo(digest=plan_digest, samples=setup.samples, repeats=1, complete=True),
        parity=parity_blocks(setup),
    )


def parity_blocks(setup: Setup) -> ParityResult:
    """At least ten blocks, proposed alike by PyTorch and by MLX."""
    blocks = []
    for sample in range(setup.samples):
        rng = random.Random(f"parity/{setup.seed}/{sample}")
        for number in range(max(4, -(-10 // setup.samples))):
            tokens = tuple(rng.randrange(49152) for _ in range(DRAFT_DEPTH))
            blocks.append(
                ParityBlock(
                    sample=sample,
                    block=number,
                    context_tokens=setup.prompt_tokens + number * 3,
                    reference_tokens=tokens,
                    candidate_tokens=tokens,
                )
            )
    return ParityResult(
        drafter_weights=digest("dflash-smollm2"),
        reference_runtime="torch",
        reference_dtype="float32",
        candidate_runtime="mlx",
        candidate_dtype="float32",
        blocks=tuple(blocks),
    )
