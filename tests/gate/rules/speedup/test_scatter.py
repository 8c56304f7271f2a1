import pytest

from tests.gate.asking import ask
from tests.gate.cases.bases import several
from tests.gate.cases.speedup import one_factor
from tests.gate.edits import edit_rows, foreign
from tests.gate.honest import Setup, measured_code

REPORT = several()


def paced(report, name, seconds, where=None):
    """Every row of an arm decodes at `seconds` a token."""

    def edit(row):
        decode_s = row.decode_tokens * seconds
        return row.replace(decode_s=decode_s, e2e_s=row.prefill_s + decode_s)

    return edit_rows(report, name, edit, where=where)


def test_honest_times_scatter():
    assert not ask("TIMES_WITHOUT_NOISE", REPORT)
    quiet = measured_code(Setup(samples=6, repeats=3, max_new_tokens=12, noise=0.0005, draft_arms=("native",)))
    assert not ask("TIMES_WITHOUT_NOISE", quiet)


def test_an_arm_by_one_factor_is_found_wherever_it_stands():
    assert [finding.arm for finding in ask("TIMES_WITHOUT_NOISE", one_factor(REPORT))] == ["oracle_again"]


def test_a_constant_rate_is_none():
    found = ask("TIMES_WITHOUT_NOISE", paced(REPORT, "native", 0.05))
    assert [finding.arm for finding in found] == ["native"]


def test_one_row_that_differs_is_noise_enough():
    report = paced(REPORT, "native", 0.05)
    report = paced(report, "native", 0.0501, where=lambda row: (row.sample, row.repeat) == (0, 0))
    assert not ask("TIMES_WITHOUT_NOISE", report)


@pytest.mark.parametrize(("samples", "repeats", "fires"), [(2, 1, False), (3, 1, False), (2, 2, True), (6, 1, True)])
def test_it_takes_enough_coincidences(samples, repeats, fires):
    report = measured_code(Setup(samples=samples, repeats=repeats, max_new_tokens=12, draft_arms=("native",)))
    assert bool(ask("TIMES_WITHOUT_NOISE", one_factor(report))) is fires


def test_printed_times_of_other_tools_are_rounded():
    assert not ask("TIMES_WITHOUT_NOISE", foreign(one_factor(REPORT)))


def test_missing_and_impossible_times_are_left_to_their_own_rules():
    for seconds in (None, 0.0, -1.0):
        broken = edit_rows(REPORT, "native", lambda row, seconds=seconds: row.replace(decode_s=seconds))
        assert not ask("TIMES_WITHOUT_NOISE", broken)
