"""What no machine can produce."""

import pytest

from gate.rules.speedup.prefill import MAX_PREFILL_RATIO
from tests.gate.asking import ask
from tests.gate.cases.bounds import cut_verification, halve_decode, third_of_prefill, too_fast
from tests.gate.edits import edit_rows
from tests.gate.honest import Setup, measured_code, measured_niah

CODE = measured_code(Setup(samples=5, repeats=3, max_new_tokens=24, draft_arms=("ngram", "native"), ngram_speedup=1.2))
CLAIM = "decode_speedup/fused_ngram"


def slower(report, name, factor):
    def edit(row):
        more = row.decode_s * (factor - 1)
        return row.replace(decode_s=row.decode_s + more, e2e_s=row.e2e_s + more)

    return edit_rows(report, name, edit)


@pytest.mark.parametrize(("factor", "off"), [(1.0, False), (1.05, False), (1.3, True), (0.75, True)])
def test_the_oracle_is_as_fast_as_itself(factor, off):
    assert bool(ask("NULL_RATIO_OFF", slower(CODE, "oracle_again", factor), CLAIM)) is off
    assert bool(ask("NULL_RATIO_OFF", slower(CODE, "oracle_again", factor), "null_ratio/oracle_again")) is off


def test_a_ratio_that_noise_explains_is_not_off():
    noisy = measured_code(Setup(samples=7, repeats=3, max_new_tokens=12, draft_arms=("ngram",), noise=0.6))
    assert not ask("NULL_RATIO_OFF", noisy, CLAIM)


def test_blocks_bound_the_decode_ratio():
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", CODE, CLAIM)
    for claim in (CLAIM, "e2e_speedup/fused_ngram"):
        assert [finding.field for finding in ask("SPEEDUP_OVER_ACCEPTANCE", too_fast(CODE), claim)] == ["decode_s"]


def test_blocks_bound_it_also_where_rounds_are_not_recorded():
    def bare(row):
        return row.replace(speculation=row.speculation.replace(rounds=None))

    assert ask("SPEEDUP_OVER_ACCEPTANCE", edit_rows(too_fast(CODE), "fused_ngram", bare), CLAIM)
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", edit_rows(CODE, "fused_ngram", bare), CLAIM)


def test_an_arm_that_does_not_draft_has_no_such_bound():
    report = halve_decode("native")(CODE)
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", report, "decode_speedup/native")


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


@pytest.mark.parametrize(("factor", "fires"), [(1.0, False), (0.8, False), (0.5, True)])
def test_a_plain_loop_gains_no_more_than_its_overhead(factor, fires):
    report = slower(CODE, "native", factor)  # the honest one is a tenth slower than the oracle
    for claim in ("decode_speedup/native", "e2e_speedup/native"):
        assert bool(ask("SPEEDUP_SAME_WORK", report, claim)) is fires


def test_a_restored_cache_that_stays_is_read_as_a_whole():
    report = measured_niah(Setup(samples=2, repeats=1, suts=("identity", "f_theta")))
    for name, fires in (("identity", True), ("f_theta", False)):
        assert bool(ask("SPEEDUP_SAME_WORK", slower(report, name, 0.4), f"decode_speedup/{name}")) is fires


def test_drafting_is_bounded_by_its_blocks_instead():
    assert not ask("SPEEDUP_SAME_WORK", too_fast(CODE), CLAIM)


def test_a_block_takes_a_step_at_least():
    report = edit_rows(CODE, "fused_ngram", cut_verification)
    assert not ask("SPEEDUP_VERIFY_FAST", CODE, CLAIM)
    assert [finding.field for finding in ask("SPEEDUP_VERIFY_FAST", report, CLAIM)] == ["verify_s"]
    assert not ask("SPEEDUP_VERIFY_FAST", report, "decode_speedup/native")


def test_without_blocks_their_time_is_not_known():
    bare = edit_rows(CODE, "fused_ngram", lambda row: row.replace(speculation=row.speculation.replace(rounds=None)))
    assert not ask("SPEEDUP_VERIFY_FAST", bare, CLAIM)
