"""One simulated run of an arm on a prompt: times around true speeds, counts that add up."""

import random

from reports.engines import ENGINES
from reports.records.measurement import BlockRecord, Measurement, Speculation
from reports.records.plan import PromptRecord, Run
from tests.gate.honest.kv_memory import kv_bytes
from tests.gate.honest.recipes import Recipe
from tests.gate.honest.setup import DRAFT_DEPTH, LAYERS, PREFILL_S_PER_TOKEN, SINK, STEP_S, WINDOW, Setup, microseconds


def measured_row(
    recipe: Recipe, setup: Setup, run: Run, position: int, prompt: PromptRecord, slowed: float
) -> Measurement:
    """The row of one run; `slowed` is how much slower the machine is by then."""
    later = f"/{run.process}" if run.process else ""
    rng = random.Random(f"{setup.seed}/{run.arm}/{run.sample}/{run.repeat}{later}")
    pace = slowed * rng.lognormvariate(0, setup.noise)
    stream = recipe.say(run.sample)
    assert prompt.token_count is not None
    tokens, steps = prompt.token_count, len(stream.token_ids) - 1
    mode, bounded = recipe.restoration.mode, recipe.restoration.mode != "none"
    evicted = LAYERS * (tokens - SINK - WINDOW) if bounded else 0
    restored = evicted if mode in ("identity", "f_theta") else 0
    speculation = speculate(recipe, setup, run, rng, steps, pace) if recipe.drafter is not None else None
    rounds = speculation.rounds or () if speculation is not None else ()
    decode_s = microseconds(
        sum(block.seconds for block in rounds) + 4e-6 * len(rounds) or steps * STEP_S * recipe.step * pace
    )
    restoration_s = microseconds(restored * 1.2e-6 * pace)
    aux_s = microseconds(tokens * 2e-5 * pace) if mode == "f_theta" or _conditioned(recipe) else 0.0
    prefill_s = microseconds(tokens * PREFILL_S_PER_TOKEN * slowed * rng.lognormvariate(0, setup.noise))
    held = [kv_bytes(recipe.restoration, tokens), kv_bytes(recipe.restoration, tokens + steps)]
    return Measurement(
        sample=run.sample,
        repeat=run.repeat,
        process=run.process,
        order=position,
        prompt_digest=prompt.digest,
        prompt_tokens=tokens,
        token_ids=stream.token_ids,
        text=stream.text,
        correct=stream.correct,
        stop_reason=stream.stop_reason,
        restoration_active=restored > 0,
        restored_positions=restored,
        evicted_positions=evicted,
        restoration_s=restoration_s,
        aux_s=aux_s,
        prefill_s=prefill_s,
        decode_s=decode_s,
        e2e_s=microseconds(restoration_s + aux_s + prefill_s + decode_s),
        decode_tokens=steps,
        kv_bytes_prefill=held[0],
        kv_bytes_decode=held[1],
        peak_bytes=540_000_000 + held[1],
        fallbacks=(),
        decode_loop=ENGINES[recipe.engine].decode_loop,
        speculation=speculation,
    )


def _conditioned(recipe: Recipe) -> bool:
    """The drafter reads the verifier's hidden states, which prefill has to capture."""
    return recipe.drafter is not None and recipe.drafter.weights is not None


def speculate(recipe: Recipe, setup: Setup, run: Run, rng: random.Random, steps: int, pace: float) -> Speculation:
    """Rounds whose seconds add up to the true speed-up over `steps` plain steps."""
    dflash = recipe.name == "fused_dflash"
    target = steps * STEP_S / (setup.speedup if dflash else setup.ngram_speedup)
    # Drafting is greedy: what is proposed and accepted is the same in every repeat, and only the pace is not.
    draws = random.Random(f"{setup.seed}/{recipe.name}/{run.sample}")
    counts = []
    left = steps
    while left > 0:
        drafted = DRAFT_DEPTH if dflash or draws.random() < setup.ngram_share else 0
        matched = 0
        while matched < drafted and draws.random() < setup.acceptance:
            matched += 1
        committed = min(matched + 1, left)
        counts.append((drafted, min(matched, committed), committed))
        left -= committed
    weights = [1 + 0.06 * drafted for drafted, _, _ in counts]
    unit = target / sum(weights)
    rounds = tuple(
        _block(*count, weight * unit * pace * rng.lognormvariate(0, setup.noise / 2))
        for count, weight in zip(counts, weights, strict=True)
    )
    return Speculation(
        blocks=len(rounds),
        drafted=sum(block.drafted for block in rounds),
        accepted=sum(block.accepted for block in rounds),
        committed=steps,
        mean_accept_len=steps / len(rounds),
        accept_len_counts="committed",
        draft_s=microseconds(sum(block.draft_s for block in rounds)),
        verify_s=microseconds(sum(block.verify_s for block in rounds)),
        extend_s=microseconds(sum(block.extend_s for block in rounds)),
        rollback_s=microseconds(sum(block.rollback_s for block in rounds)),
        rounds=rounds,
    )


def _block(drafted: int, accepted: int, committed: int, seconds: float) -> BlockRecord:
    draft_s, extend_s, rollback_s = (microseconds(seconds * share) if drafted else 0.0 for share in (0.1, 0.02, 0.01))
    return BlockRecord(
        drafted=drafted,
        accepted=accepted,
        committed=committed,
        draft_s=draft_s,
        verify_s=microseconds(seconds * 0.86),
        extend_s=extend_s,
        rollback_s=rollback_s,
        seconds=microseconds(seconds),
    )
