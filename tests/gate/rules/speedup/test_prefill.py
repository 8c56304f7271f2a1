import pytest

from gate.rules.speedup.prefill import MAX_PREFILL_RATIO, MAX_PREFILL_SPREAD
from tests.gate.asking import ask, found
from tests.gate.cases.bounds import third_of_prefill
from tests.gate.edits import edit_rows, scale, set_first_row
from tests.gate.honest import Setup, measured_niah
from tests.gate.rules.speedup.timed_code import CODE, code

NGRAM, NATIVE = "decode_speedup/fused_ngram", "decode_speedup/native"


def test_the_same_prefill_is_not_read_at_two_speeds():
    assert not ask("SPEEDUP_PREFILL_UNEQUAL", CODE, "e2e_speedup/native")
    found = ask("SPEEDUP_PREFILL_UNEQUAL", third_of_prefill(CODE), "e2e_speedup/native")
    assert float(found[0].found) == pytest.approx(3, rel=0.05)
    assert str(MAX_PREFILL_RATIO.value) in found[0].allowed


def test_a_bounded_cache_is_read_at_its_own_speed():
    report = edit_rows(
        measured_niah(Setup(samples=2, repeats=1)), "identity", lambda row: row.replace(prefill_s=row.prefill_s / 9)
    )
    assert not ask("SPEEDUP_PREFILL_UNEQUAL", report, "e2e_speedup/identity")


@pytest.mark.parametrize(("factor", "fires"), [(0.999, False), (1.001, True)])
def test_prefill_may_vary_threefold_by_the_token(factor: float, fires: bool) -> None:
    report = code()
    rows = next(arm for arm in report.arms if arm.name == "oracle").measurements
    costs = {row.sample: (row.prefill_s or 0) / (row.prompt_tokens or 1) for row in rows}
    low = min(costs, key=costs.__getitem__)
    wanted = costs[low] * MAX_PREFILL_SPREAD.value * factor
    other = max(costs)
    report = scale(report, "oracle", prefill=wanted / costs[other], where=lambda row: row.sample == other)
    assert bool(ask("SPEEDUP_PREFILL_VARIANCE", report, NGRAM)) is fires


def test_long_prompts_may_take_longer() -> None:
    report = code()
    for arm in report.arms:
        report = scale(report, arm.name, prefill=9.0, where=lambda row: row.sample == 0)
        report = edit_rows(
            report,
            arm.name,
            lambda row: row.replace(prompt_tokens=(row.prompt_tokens or 0) * (9 if row.sample == 0 else 1)),
        )
    assert not ask("SPEEDUP_PREFILL_VARIANCE", report, NGRAM)


def test_an_unrecorded_prefill_is_not_a_steady_one() -> None:
    assert found("SPEEDUP_PREFILL_VARIANCE", set_first_row(code(), "oracle", prefill_s=None), NGRAM) == ["none"]
