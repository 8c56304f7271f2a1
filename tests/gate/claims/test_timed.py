"""Which claims a report can carry, and that their figures are those of its rows."""

import pytest

from gate.claims.timed import propose, recompute, sides
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ALL_METRICS
from reports.report import Report
from tests.gate.claim_edits import f_theta
from tests.gate.edits import edit_arm, set_rows
from tests.gate.honest import Setup, measured_code, measured_kv_quant, measured_niah, measured_parity


def names(report: Report) -> set[str]:
    return {claim.name for claim in propose(report)}


def test_a_needle_report_may_claim_recall_speed_identity_and_noise() -> None:
    assert names(measured_niah(Setup(samples=2, repeats=1, suts=("identity", "native")))) == {
        "oracle_recall/oracle",
        "null_ratio/oracle_again",
        "restoration_recall/identity",
        "decode_speedup/identity",
        "e2e_speedup/identity",
        "token_identity/identity",
        "native_baseline_recall/native",
        "decode_speedup/native",
        "e2e_speedup/native",
        "token_identity/native",
    }


def test_a_lossy_arm_may_claim_its_saving_and_not_identity() -> None:
    found = names(f_theta())
    assert "kv_saving/f_theta" in found
    assert "token_identity/f_theta" not in found


def test_a_drafting_arm_may_claim_acceptance() -> None:
    found = names(measured_code(Setup(samples=2, repeats=1)))
    assert {"acceptance/fused_dflash", "acceptance/fused_ngram", "drafter_parity/mlx"} <= found
    assert not any(name.startswith("arm_recall") for name in found)


def test_codecs_get_a_verdict_each_but_not_the_reference() -> None:
    assert names(measured_kv_quant(Setup(samples=2))) == {
        "kv_codec_worthwhile/affine8",
        "kv_codec_worthwhile/hadamard_e8",
        "kv_codec_worthwhile/lattice_d4",
    }


@pytest.mark.parametrize(
    "report",
    [
        measured_niah(Setup(samples=3, repeats=2, suts=("identity", "f_theta", "native"))),
        measured_code(Setup(samples=3, repeats=2)),
        measured_parity(Setup(samples=3)),
        measured_kv_quant(Setup(samples=3)),
    ],
)
def test_proposed_figures_are_recomputed_to_the_last_digit_and_not_asserted(report: Report) -> None:
    view = ReportView(report)
    for claim in propose(report):
        figures = recompute(view, claim)
        assert figures is not None
        assert claim.value == figures.value
        assert claim.status == "withheld"
        assert claim.metric in ALL_METRICS
        if claim.interval is not None:
            assert (claim.interval.low, claim.interval.high) == figures.interval
            assert claim.interval.low <= claim.value <= claim.interval.high


def test_an_analytic_saving_is_of_the_layers_not_of_the_stated_totals() -> None:
    report = f_theta()
    assert report.memory is not None
    claim = next(claim for claim in propose(report) if claim.metric == "kv_saving").replace(basis="analytic")
    true = recompute(ReportView(report), claim)
    inflated = tuple(
        table.replace(full_kv_bytes=table.full_kv_bytes * 9, total_bytes=1) for table in report.memory.arms
    )
    assert true is not None
    assert recompute(ReportView(report.replace(memory=report.memory.replace(arms=inflated))), claim) == true


def test_what_the_rows_do_not_give_is_not_proposed() -> None:
    report = measured_niah(Setup(samples=2, repeats=1))
    unscored = set_rows(report, "identity", correct=None)
    assert "restoration_recall/identity" not in names(unscored)
    untimed = set_rows(report, "oracle", decode_s=None)
    assert not {"decode_speedup/identity", "null_ratio/oracle_again"} & names(untimed)
    no_oracle = edit_arm(report, "oracle", lambda arm: arm.replace(role="control"))
    assert not any(name.startswith(("decode_speedup", "oracle_recall")) for name in names(no_oracle))


def test_sides_are_two_arms_of_the_report() -> None:
    report = measured_code(Setup(samples=1, repeats=1))
    view = ReportView(report)
    claim = next(claim for claim in propose(report) if claim.name == "decode_speedup/fused_ngram")
    both = sides(view, claim)
    assert both is not None
    assert [arm.name for arm in both] == ["fused_ngram", "oracle"]
    for changes in ({"baseline": None}, {"baseline": "nobody"}, {"baseline": "fused_ngram"}, {"arm": "nobody"}):
        assert sides(view, claim.replace(**changes)) is None
