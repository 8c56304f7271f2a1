import pytest

from reports.records.measurement import Measurement
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, edit_rows, set_first_row
from tests.gate.rules.speedup.timed_code import code, quiet

NGRAM, NATIVE = "decode_speedup/fused_ngram", "decode_speedup/native"


CLAIM = "decode_speedup/native"


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


@pytest.mark.parametrize(("repeats", "fires"), [(2, True), (3, False)])
def test_three_repeats_are_enough(repeats: int, fires: bool) -> None:
    assert bool(ask("SPEEDUP_REPEATS", quiet(repeats=repeats), CLAIM)) is fires


@pytest.mark.parametrize(("processes", "repeats", "fires"), [(1, 3, False), (2, 2, True), (3, 1, False)])
def test_two_processes_are_too_few_and_one_speaks_for_itself(processes: int, repeats: int, fires: bool) -> None:
    report = quiet(processes=processes, repeats=repeats)
    assert bool(ask("SPEEDUP_PROCESSES", report, CLAIM)) is fires
    assert not ask("SPEEDUP_REPEATS", report, CLAIM), "two of two are four repeats"


def test_repeats_count_as_pairs_and_once_each() -> None:
    def drop(row: Measurement) -> bool:
        return (row.sample, row.repeat) == (2, 1)

    report = quiet()
    for name in ("native", "oracle"):
        short = edit_arm(
            report, name, lambda arm: arm.replace(measurements=tuple(r for r in arm.measurements if not drop(r)))
        )
        assert found("SPEEDUP_REPEATS", short, CLAIM) == ["2"]
    doubled = edit_rows(report, "native", lambda row: row.replace(repeat=0) if drop(row) else row)
    assert found("SPEEDUP_REPEATS", doubled, CLAIM) == ["1"]
