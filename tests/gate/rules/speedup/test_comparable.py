"""Rules about what a ratio compares, at their edges."""

import pytest

from gate.claims.propose import propose
from gate.rules.speedup.prefill import MAX_PREFILL_SPREAD
from reports.records.measurement import NATIVE_BASELINE_LABEL, Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, scale, set_first_row, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

NGRAM, NATIVE = "decode_speedup/fused_ngram", "decode_speedup/native"


def code(**changes: object) -> Report:
    """Oracle, prompt lookup and a native loop; five prompts once."""
    setup = {"samples": 5, "repeats": 1, "max_new_tokens": 40, "draft_arms": ("ngram", "native")}
    return measured_code(Setup(**(setup | changes)))  # type: ignore[arg-type]


def without_drafts(report: Report) -> Report:
    """The fused arm stands still: blocks are recorded as zero."""

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        return row.replace(speculation=row.speculation.replace(blocks=0, drafted=0, accepted=0, rounds=()))

    return edit_rows(report, "fused_ngram", edit)


def test_drafting_or_restoring_is_another_computation() -> None:
    assert not ask("SPEEDUP_SELF_COMPARISON", code(), NGRAM)
    niah = measured_niah(Setup(samples=2, repeats=1))
    assert not ask("SPEEDUP_SELF_COMPARISON", niah, "decode_speedup/identity")


def test_an_arm_in_which_nothing_ran_is_the_oracle() -> None:
    assert ask("SPEEDUP_SELF_COMPARISON", without_drafts(code()), NGRAM)


def test_a_labelled_loop_of_ones_own_is_compared_unless_it_is_the_oracles() -> None:
    report = code()
    assert not ask("SPEEDUP_SELF_COMPARISON", report, NATIVE)
    unlabelled = edit_arm(report, "native", lambda arm: arm.replace(system_under_test="k3"))
    assert ask("SPEEDUP_SELF_COMPARISON", unlabelled, NATIVE)
    unrecorded = edit_arm(
        set_rows(report, "native", decode_loop=None), "native", lambda arm: arm.replace(decode_loop=None)
    )
    assert ask("SPEEDUP_SELF_COMPARISON", unrecorded, NATIVE)


def test_the_oracles_engine_without_drafter_is_the_oracle_whatever_its_rows_say() -> None:
    report = edit_arm(code(), "native", lambda arm: arm.replace(engine="ar", system_under_test="k3 turbo"))
    assert ask("SPEEDUP_SELF_COMPARISON", set_rows(report, "native", restoration_active=None), NATIVE)


def test_another_tools_engine_may_be_faster_at_the_same() -> None:
    report = edit_arm(code(), "native", lambda arm: arm.replace(role="peer", engine="llama.cpp", system_under_test="x"))
    assert not ask("SPEEDUP_SELF_COMPARISON", report, NATIVE)


def test_an_arm_is_not_compared_with_itself() -> None:
    report = code()
    claim = next(one for one in propose(report) if one.name == NGRAM).replace(baseline="fused_ngram")
    assert ask("SPEEDUP_SELF_COMPARISON", report.replace(claims=(claim,)), NGRAM)


@pytest.mark.parametrize(("samples", "fires"), [(4, True), (5, False)])
def test_five_prompts_are_enough(samples: int, fires: bool) -> None:
    assert bool(ask("SPEEDUP_SAMPLES", code(samples=samples), NGRAM)) is fires


def test_a_prompt_asked_twice_counts_once_in_both_arms() -> None:
    report = code()
    first = report.arms[0].measurements[0].prompt_digest
    for arm in report.arms:
        report = edit_rows(
            report, arm.name, lambda row: row.replace(prompt_digest=first if row.sample < 2 else row.prompt_digest)
        )
    assert found("SPEEDUP_SAMPLES", report, NGRAM) == ["4", "4"]


@pytest.mark.parametrize(("budget", "fires"), [(32, True), (33, False)])
def test_a_median_of_32_decode_tokens_is_enough(budget: int, fires: bool) -> None:
    report = code(max_new_tokens=budget)
    assert report.arms[0].measurements[0].decode_tokens == budget - 1
    assert bool(ask("SPEEDUP_DECODE_TOKENS", report, NGRAM)) is fires


def test_an_unknown_number_of_decode_tokens_is_not_enough() -> None:
    assert found("SPEEDUP_DECODE_TOKENS", set_first_row(code(), "oracle", decode_tokens=None), NGRAM) == ["none"]


def test_decode_figures_are_needed_in_every_row_of_both_arms() -> None:
    assert not ask("SPEEDUP_DECODE_ONLY_MISSING", code(), NGRAM)
    for name in ("oracle", "fused_ngram"):
        assert found("SPEEDUP_DECODE_ONLY_MISSING", set_first_row(code(), name, decode_s=None), NGRAM) == ["4"]


def test_an_end_to_end_ratio_needs_the_decode_only_one_of_the_same_arms_beside_it() -> None:
    report = code()
    both = tuple(one for one in propose(report) if one.metric.endswith("speedup"))
    end_to_end = "e2e_speedup/fused_ngram"
    assert not ask("SPEEDUP_DECODE_ONLY_MISSING", report.replace(claims=both), end_to_end)
    other = tuple(one for one in both if one.name in (end_to_end, NATIVE))
    assert ask("SPEEDUP_DECODE_ONLY_MISSING", report.replace(claims=other), end_to_end)


def test_prefill_is_left_out_only_where_it_turns_the_ratio() -> None:
    report = code(ngram_speedup=1.5)
    assert not ask("SPEEDUP_PREFILL_LEFT_OUT", report, NGRAM)
    slow = scale(report, "fused_ngram", prefill=4.0)
    assert ask("SPEEDUP_PREFILL_LEFT_OUT", slow, NGRAM)
    assert not ask("SPEEDUP_PREFILL_LEFT_OUT", scale(slow, "fused_ngram", decode=2.0), NGRAM)


@pytest.mark.parametrize(
    ("ours", "theirs", "fires"),
    [
        ("stages", "stages", False),
        ("e2e_prefill_plus_decode", "e2e_prefill_plus_decode", False),
        ("stages", "e2e_prefill_plus_decode", True),
        (None, "stages", True),
        ("stages", None, True),
        (None, None, True),
    ],
)
def test_scopes_must_be_recorded_and_equal(ours: str | None, theirs: str | None, fires: bool) -> None:
    report = edit_arm(code(), "fused_ngram", lambda arm: arm.replace(timing_scope=ours))
    report = edit_arm(report, "oracle", lambda arm: arm.replace(timing_scope=theirs))
    assert bool(ask("SPEEDUP_SCOPE_MISMATCH", report, NGRAM)) is fires


def test_every_row_of_the_oracle_is_decoded_with_the_reference_loop() -> None:
    assert not ask("SPEEDUP_ORACLE_LOOP", code(), NGRAM)
    assert found("SPEEDUP_ORACLE_LOOP", set_first_row(code(), "oracle", decode_loop="plain_step"), NGRAM) == [
        "plain_step"
    ]
    silent = edit_arm(set_rows(code(), "oracle", decode_loop=None), "oracle", lambda arm: arm.replace(decode_loop=None))
    assert found("SPEEDUP_ORACLE_LOOP", silent, NGRAM) == ["not recorded"]


def test_an_oracle_that_drops_its_cache_is_none() -> None:
    bounded = measured_niah(Setup(samples=2, repeats=1)).arms[2].restoration
    report = edit_arm(code(), "oracle", lambda arm: arm.replace(restoration=bounded))
    assert ask("SPEEDUP_ORACLE_LOOP", report, NGRAM)


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


def test_the_label_of_a_native_baseline_is_what_the_records_say() -> None:
    assert next(arm for arm in code().arms if arm.name == "native").system_under_test == NATIVE_BASELINE_LABEL
