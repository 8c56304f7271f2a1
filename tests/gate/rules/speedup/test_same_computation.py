import pytest

from gate.claims.propose import propose
from reports.engines import ORACLE
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import Measurement
from reports.records.provenance import Runtime
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bounds import too_fast
from tests.gate.edits import edit_arm, edit_rows, scale, set_first_row, set_rows
from tests.gate.honest import Setup, measured_niah
from tests.gate.rules.speedup.timed_code import CODE, code, slower

CLAIM = "decode_speedup/fused_ngram"


NGRAM, NATIVE = "decode_speedup/fused_ngram", "decode_speedup/native"


def without_drafts(report: Report) -> Report:
    """The fused arm stands still: blocks are recorded as zero."""

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        return row.replace(speculation=row.speculation.replace(blocks=0, drafted=0, accepted=0, rounds=()))

    return edit_rows(report, "fused_ngram", edit)


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


def test_every_row_of_the_oracle_is_decoded_with_the_reference_loop() -> None:
    assert not ask("SPEEDUP_ORACLE_LOOP", code(), NGRAM)
    assert found("SPEEDUP_ORACLE_LOOP", set_first_row(code(), "oracle", decode_loop="plain_step"), NGRAM) == [
        "plain_step"
    ]
    silent = edit_arm(set_rows(code(), "oracle", decode_loop=None), "oracle", lambda arm: arm.replace(decode_loop=None))
    assert found("SPEEDUP_ORACLE_LOOP", silent, NGRAM) == ["not recorded"]


def test_on_pytorch_the_reference_loop_is_another() -> None:
    torch = on_torch(code())
    assert found("SPEEDUP_ORACLE_LOOP", torch, NGRAM) == [ORACLE.decode_loop]
    assert not ask("SPEEDUP_ORACLE_LOOP", set_rows(torch, "oracle", decode_loop="greedy_step"), NGRAM)
    assert ask("SPEEDUP_ORACLE_LOOP", set_rows(code(), "oracle", decode_loop="greedy_step"), NGRAM)


def on_torch(report: Report) -> Report:
    """The report as though PyTorch had computed it."""
    assert report.provenance is not None
    runtime = Runtime(backend="torch", device="cpu", dtype="float32", attention="sdpa", threads=2)
    return report.replace(provenance=report.provenance.replace(runtime=runtime))


def test_an_oracle_that_drops_its_cache_is_none() -> None:
    bounded = measured_niah(Setup(samples=2, repeats=1)).arms[2].restoration
    report = edit_arm(code(), "oracle", lambda arm: arm.replace(restoration=bounded))
    assert ask("SPEEDUP_ORACLE_LOOP", report, NGRAM)


def test_the_label_of_a_native_baseline_is_what_the_records_say() -> None:
    assert next(arm for arm in code().arms if arm.name == "native").system_under_test == NATIVE_BASELINE_LABEL


def test_a_ratio_of_two_arms_holds_both_to_the_oracle() -> None:
    ranked = "arm_ratio/fused_ngram/native"
    assert not ask("SPEEDUP_SAME_WORK", code(), ranked)
    (finding,) = ask("SPEEDUP_SAME_WORK", scale(code(), "native", decode=0.5), ranked)
    assert (finding.arm, finding.field) == ("native", "decode_s")
