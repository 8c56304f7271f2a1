from gate.claims.propose import propose
from reports.report import Report
from tests.gate.cases.bases import f_theta
from tests.gate.edits import edit_arm, set_rows
from tests.gate.honest import Setup, measured_code, measured_kv_quant, measured_niah


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
        "arm_ratio/identity/native",
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


def test_what_the_rows_do_not_give_is_not_proposed() -> None:
    report = measured_niah(Setup(samples=2, repeats=1))
    unscored = set_rows(report, "identity", correct=None)
    assert "restoration_recall/identity" not in names(unscored)
    untimed = set_rows(report, "oracle", decode_s=None)
    assert not {"decode_speedup/identity", "null_ratio/oracle_again"} & names(untimed)
    no_oracle = edit_arm(report, "oracle", lambda arm: arm.replace(role="control"))
    assert not any(name.startswith(("decode_speedup", "oracle_recall")) for name in names(no_oracle))
