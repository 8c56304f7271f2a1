"""The prompts of a simulated workload: their digests, lengths and needles."""

import random
from collections.abc import Sequence

from reports.records.measurement import PromptSet
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.report import Kind
from tests.gate.honest.setup import SINK, WINDOW, Setup, digest

CODES = ("ALPHA", "BETA", "GAMMA", "DELTA", "KAPPA", "SIGMA", "THETA", "OMEGA", "LAMBDA", "ZETA")


def prompts_of(setup: Setup, answers: Sequence[str | None], sets: Sequence[PromptSet]) -> tuple[PromptRecord, ...]:
    """The prompts of every sample, in each of the sets; those with an answer hold a needle in the main set."""
    made = []
    for sample, answer in enumerate(answers):
        rng = random.Random(f"prompt/{setup.seed}/{sample}")
        count = round(setup.prompt_tokens * rng.uniform(0.95, 1.05))
        first = rng.randint(SINK + 10, count - WINDOW - 60)
        for prompt_set in sets:
            ids = [rng.randrange(49152) for _ in range(count)]
            needle = answer is not None and prompt_set == "main"
            made.append(
                PromptRecord(
                    sample=sample,
                    prompt_set=prompt_set,
                    digest=digest(",".join(map(str, ids))),
                    token_count=count,
                    answer=answer,
                    needle_depth=first / count if needle else None,
                    needle_first=first if needle else None,
                    needle_last=first + 12 if needle else None,
                    question_first=count - 24 if answer is not None else None,
                )
            )
    return tuple(made)


def workload_of(kind: Kind, setup: Setup, prompts: Sequence[PromptRecord]) -> WorkloadInfo:
    """The workload of these prompts, with the digest of them all."""
    lines = (f"{p.sample}|{p.prompt_set}|{p.digest}|{p.answer or ''}" for p in prompts)
    return WorkloadInfo(
        name=kind,
        generator_version=1,
        seed=setup.seed,
        digest=digest("\n".join(lines)),
        prompt_style="chat" if kind == "niah" else "completion",
        prompts=tuple(prompts),
    )
