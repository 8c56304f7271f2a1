"""Whether the steps of a smoke did what they must, derived from statuses and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gate.figures.statistics.intervals import Share
from reports.records.constants import SMOKE_STEPS
from reports.restorations import RESTORATIONS

if TYPE_CHECKING:
    from reports.records.conduct.runtime_smoke import RuntimeSmoke, SmokeFrame, SmokeStep

ASKED = 3
"""Tokens that the step `generate` asks for."""


def smoke_passed(smoke: RuntimeSmoke | None) -> Share | None:
    """Steps of the ten that are there once and did what they must; none without a smoke."""
    if smoke is None:
        return None
    by_name: dict[str, list[SmokeStep]] = {}
    for step in smoke.steps:
        by_name.setdefault(step.step, []).append(step)
    single = (by_name[name][0] for name in SMOKE_STEPS if len(by_name.get(name, ())) == 1)
    return Share(sum(step_failure(smoke, step) is None for step in single), len(SMOKE_STEPS))


def tokens_of(frames: Sequence[SmokeFrame]) -> tuple[int, ...]:
    """The tokens of all blocks."""
    return tuple(token for frame in frames for token in frame.token_ids or ())


def step_failure(smoke: RuntimeSmoke, step: SmokeStep) -> tuple[str, str] | None:
    """What was seen, and what must be, of a step that did not do what it must; none if it did."""
    wanted = SMOKE_STEPS.get(step.step)
    if step.observed != wanted:
        return step.observed, str(wanted)
    if not step.step.startswith("generate") or wanted != "OK":
        return None
    last, tokens = step.frames[-1] if step.frames else None, tokens_of(step.frames)
    stop = last.stop if last is not None and last.frame == "done" else None
    match step.step:
        case "generate" if (stop, len(tokens)) != ("MAX_TOKENS", ASKED) or step.max_tokens != ASKED:
            return f"{len(tokens)} tokens, then {stop}", f"{ASKED} tokens, then MAX_TOKENS"
        case "generate_to_stop" if stop != "EOS" or step.stop_token is None or tokens[-1:] != (step.stop_token,):
            return f"{tokens[-1:]}, then {stop}", f"token {step.stop_token}, then EOS"
    dropped, due = [frame.dropped for frame in step.frames if frame.frame == "truncated"], _dropped(smoke, step)
    if step.step == "generate_truncated" and not due and _kept(smoke) is not None:
        return f"a history of {step.history_length} tokens, which nothing is dropped of", "one beyond sink and window"
    if dropped != due or (step.step == "generate_truncated" and not tokens):
        return f"{len(tokens)} tokens, dropped {dropped}", f"tokens, dropped {due}"
    return None


def _kept(smoke: RuntimeSmoke) -> int | None:
    """Positions that the engine keeps of any history, sink + window; none where it drops nothing."""
    kept = smoke.restoration
    if kept is None or not RESTORATIONS[kept.mode].evicts or kept.sink is None or kept.window is None:
        return None
    return kept.sink + kept.window


def _dropped(smoke: RuntimeSmoke, step: SmokeStep) -> list[int]:
    """What `truncated` must say: a frame where a bounded engine's history is beyond sink + window, else none."""
    kept = _kept(smoke)
    if kept is None or step.history_length is None or step.history_length <= kept:
        return []
    return [step.history_length - kept]
