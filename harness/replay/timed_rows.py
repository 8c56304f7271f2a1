"""Rows of a timed run again: the same arm on the same prompt, and the original's stream audited here."""

from harness.base.errors import EngineError
from harness.base.progress import Progress
from harness.engines.base import DecodeLimit
from harness.plans.plan import Plan, RunPlan
from harness.replay.outcome import Again, DrawnRows, Outcome, not_run
from harness.runs.loaded.loading import load_preset_models
from harness.runs.timed_process import WARMUP_TOKENS, Prepared, measure, prepare, skeleton
from reports.records.measurement import AuditedStream, Measurement
from reports.records.plan import Run
from reports.replays.draw import Drawn


def run_again(plan: Plan, drawn: DrawnRows, progress: Progress) -> Again:
    """Every drawn row, each arm warmed up before its first.

    Raises:
        ModelError: a model is missing or damaged. UsageError: a prompt cannot be made, or the plan does not fit the
            model. EngineError: an engine cannot do what its arm says.
    """
    assert isinstance(plan, RunPlan)
    progress(0, len(drawn), f"loading {plan.preset.model}")
    prepared = prepare(plan, load_preset_models(plan.preset))
    prepared.loaded.tell_unverified()
    outcomes, warm = {}, set()
    for number, (one, original) in enumerate(drawn.items()):
        progress(number, len(drawn), f"{one.arm}, row {one.place}")
        assert isinstance(original, Measurement)
        outcomes[one] = _row(prepared, one, original, warm=one.arm in warm)
        warm.add(one.arm)
    return Again(skeleton(prepared), outcomes)


def _row(prepared: Prepared, one: Drawn, original: Measurement, *, warm: bool) -> Outcome:
    if one.arm not in prepared.engines:
        return not_run(f"{one.arm} is no arm of the preset, or one that a server ran")
    if (prepared.arm(one.arm).prompt_set, original.sample) not in prepared.prompts:
        return not_run(f"the preset has no sample {original.sample}")
    run = Run(arm=one.arm, sample=original.sample, repeat=original.repeat, process=original.process)
    try:
        if not warm:
            measure(prepared, run, None, DecodeLimit(WARMUP_TOKENS, {}))
        return Outcome(measure(prepared, run, original.order, prepared.limit), _audit(prepared, run, original))
    except EngineError as error:
        return not_run(error)


def _audit(prepared: Prepared, run: Run, original: Measurement) -> AuditedStream | None:
    """The original's stream, checked by the verifier here; none of one that is longer than any row of the plan, or
    holds a token that the verifier does not have."""
    stream = original.token_ids
    vocab = prepared.loaded.verifier.architecture.vocab
    if not stream or len(stream) > prepared.plan.preset.max_new_tokens or max(stream) >= vocab:
        return None
    prompt = prepared.prompts[(prepared.arm(run.arm).prompt_set, run.sample)]
    return prepared.loaded.audit(prompt.tokens, original).replace(process=original.process)
