"""What a plan is too small to show, whatever it will measure; by the thresholds of the gate."""

from collections.abc import Iterator

from harness.plans.plan import Plan
from harness.plans.preset import NiahPreset, TimedPreset


def too_small_for_a_ratio(plan: Plan) -> Iterator[str]:
    """What keeps a timed plan from any ratio: too few prompts, repeats or tokens."""
    from gate.rulebook.thresholds import MIN_DECODE_TOKENS
    from gate.rules.speedup.sample_size import MIN_PROCESSES, MIN_REPEATS, MIN_SPEEDUP_GROUPS

    preset = plan.preset
    if not isinstance(preset, TimedPreset):
        return
    prompts, runs, tokens = preset.samples, preset.processes * preset.repeats, preset.max_new_tokens
    if prompts < MIN_SPEEDUP_GROUPS.value:
        kinds = f"{MIN_SPEEDUP_GROUPS.value} kinds of prompts (`--samples {MIN_SPEEDUP_GROUPS.value}` or more)"
        yield f"{prompts} {'prompt is' if prompts == 1 else 'prompts are'} asked, and a ratio needs {kinds}"
    if runs < MIN_REPEATS.value:
        yield f"each runs {runs} of the {MIN_REPEATS.value} times that are needed (`--processes {MIN_REPEATS.value}`)"
    elif 1 < preset.processes < MIN_PROCESSES.value:
        least = MIN_PROCESSES.value
        told = f"{preset.processes} processes tell too little of the next one"
        yield f"{told}, and {least} are needed (`--processes {least}`)"
    if tokens <= MIN_DECODE_TOKENS.value:
        least = MIN_DECODE_TOKENS.value + 1
        yield f"{tokens} new tokens at most are decoded, and {least} are needed (`--set max_new_tokens=64`)"


def too_small_for_a_share(plan: Plan) -> Iterator[str]:
    """What else a timed plan asks too few prompts for: shares of streams, and recall that luck could have."""
    from gate.rules.recall.ablated_control import LUCK
    from gate.rules.streams.distinct_streams import MIN_STREAM_SAMPLES

    preset = plan.preset
    if not isinstance(preset, TimedPreset):
        return
    least = MIN_STREAM_SAMPLES.value
    if preset.samples < least:
        yield f"token identity and acceptance need {least} prompts (`--samples {least}`)"
    restores = isinstance(preset, NiahPreset) and any(arm.restoration in ("identity", "f_theta") for arm in preset.arms)
    told_apart = next(prompts for prompts in range(1, 100) if 0.5**prompts <= LUCK.value)
    if restores and preset.samples < told_apart:
        yield f"recall by restoration needs {told_apart} prompts beside its control (`--samples {told_apart}`)"
