import pytest

from reports.records.conduct.runtime_smoke import SmokeFrame, SmokeStep
from reports.records.measurement import Restoration
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.conduct import edit_step, without_step
from tests.gate.honest.conduct import measured_smoke

SMOKE = measured_smoke()


def steps(report: Report) -> tuple[SmokeStep, ...]:
    assert report.runtime_smoke is not None
    return report.runtime_smoke.steps


def with_steps(*changed: SmokeStep) -> Report:
    assert SMOKE.runtime_smoke is not None
    return SMOKE.replace(runtime_smoke=SMOKE.runtime_smoke.replace(steps=changed))


def step(name: str) -> SmokeStep:
    return next(one for one in steps(SMOKE) if one.step == name)


def test_an_honest_smoke_breaks_none() -> None:
    for code in ("SMOKE_STEPS", "SMOKE_STATUS", "SMOKE_FAILED", "SMOKE_DETERMINISM"):
        assert not ask(code, SMOKE)


def test_steps_missing_repeated_reordered_or_made_up_are_found() -> None:
    own = steps(SMOKE)
    for changed in (own[:-1], own[1:], (*own, own[0]), (own[1], own[0], *own[2:]), (*own[:4], own[3], *own[5:]), ()):
        assert ask("SMOKE_STEPS", with_steps(*changed)), changed
    assert ask("SMOKE_STEPS", edit_step(SMOKE, "create", lambda one: one.replace(step="make")))
    assert found("SMOKE_STEPS", edit_step(SMOKE, "no_generator", lambda one: one.replace(expected="OK"))) == ["OK"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("generate", {"frames": ()}),
        ("generate", {"frames": step("generate").frames[:-1]}),
        ("generate", {"frames": (*step("generate").frames, step("generate").frames[-1])}),
        ("generate", {"frames": step("generate").frames[1:]}),
        ("generate", {"max_tokens": 2}),
        ("generate", {"max_tokens": None}),
        ("generate_truncated", {"frames": (*step("generate_truncated").frames[::-1],)}),
        ("generate_nothing", {"frames": step("generate").frames}),
        ("create", {"frames": step("generate").frames}),
        ("create", {"elapsed_ms": -1.0}),
        ("generate_sampled", {"observed": "OK"}),
    ],
)
def test_a_status_fits_its_frames(name: str, changes: dict[str, object]) -> None:
    assert len(ask("SMOKE_STATUS", edit_step(SMOKE, name, lambda one: one.replace(**changes)))) == 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("unknown_session", {"observed": "INTERNAL"}),
        ("no_generator", {"observed": "NOT_FOUND"}),
        ("generate_to_stop", {"stop_token": 7}),
        ("generate_to_stop", {"stop_token": None}),
        ("generate", {"max_tokens": 8}),
        ("generate_truncated", {"frames": step("generate_truncated").frames[1:]}),
        ("generate_truncated", {"history_length": 101}),
        ("generate_truncated", {"history_length": 68}),
    ],
)
def test_a_step_does_what_it_must(name: str, changes: dict[str, object]) -> None:
    assert len(ask("SMOKE_FAILED", edit_step(SMOKE, name, lambda one: one.replace(**changes)))) == 1


def test_an_engine_that_keeps_everything_truncates_nothing() -> None:
    assert SMOKE.runtime_smoke is not None
    whole = SMOKE.replace(runtime_smoke=SMOKE.runtime_smoke.replace(restoration=None))
    assert found("SMOKE_FAILED", whole) == ["3 tokens, dropped [32]"]
    silent = edit_step(whole, "generate_truncated", lambda one: one.replace(frames=one.frames[1:]))
    assert not ask("SMOKE_FAILED", silent)
    sized = silent.replace(
        runtime_smoke=silent.runtime_smoke
        and silent.runtime_smoke.replace(restoration=Restoration(mode="none", sink=4, window=64))
    )
    assert not ask("SMOKE_FAILED", sized), "what keeps everything has no window, whatever is said of one"


def test_the_same_history_in_two_ways_gives_the_same_tokens() -> None:
    other = (SmokeFrame(frame="block", token_ids=(41, 12)), SmokeFrame(frame="done", stop="EOS", tokens=2))
    assert ask("SMOKE_DETERMINISM", edit_step(SMOKE, "generate_to_stop", lambda one: one.replace(frames=other)))
    for changes in ({"appends": 1}, {"history_digest": None}, {"observed": "INTERNAL"}):
        report = edit_step(SMOKE, "generate_to_stop", lambda one, changes=changes: one.replace(**changes))
        assert found("SMOKE_DETERMINISM", report) == ["0"]
    assert ask("SMOKE_DETERMINISM", without_step(SMOKE, "generate"))
