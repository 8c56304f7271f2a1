import pytest

from tests.gate.asking import ask, found, named
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import edit_codec
from tests.gate.rules.kv_quant.codec_edits import first, samples, without

CLAIM = named(kv_quant(), "kv_codec_worthwhile/lattice_d4")


def test_identity_moves_no_logit_and_keeps_the_second_answer() -> None:
    for edit in (
        lambda row: row.replace(held_out=row.held_out.replace(kl_divergence=1e-3)),
        lambda row: row.replace(held_out=row.held_out.replace(top1_flips=1)),
        lambda row: row.replace(second=row.second.replace(token_ids_equal_oracle=False)),
    ):
        assert ask("KVQUANT_CONTROL", first(kv_quant(), "identity", edit))


def test_the_identity_codec_is_there_errs_by_nothing_and_says_what_the_oracle_says() -> None:
    assert not ask("KVQUANT_CONTROL", kv_quant())
    assert found("KVQUANT_CONTROL", without(kv_quant(), "identity")) == ["none"]
    assert found("KVQUANT_CONTROL", samples(kv_quant(), "identity", relative_error_v=1e-9)) == ["5e-10"]
    assert found("KVQUANT_CONTROL", samples(kv_quant(), "identity", relative_error_k=None)) == ["unknown"]
    for equal in (False, None):
        assert found("KVQUANT_CONTROL", samples(kv_quant(), "identity", token_ids_equal_oracle=equal)) == ["0"]
    assert found("KVQUANT_CONTROL", samples(kv_quant(), "identity", correct=False)) == ["0.0"]


def test_the_oracles_recall_is_recorded() -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    assert ask("KVQUANT_CONTROL", report.replace(kv_quant=report.kv_quant.replace(oracle_recall=None)))


def test_every_prompt_is_asked_of_every_codec() -> None:
    """A sample dropped from all codecs alike may be the one that was lost."""
    report = kv_quant()
    assert report.kv_quant is not None
    arms = tuple(arm.replace(samples=arm.samples[:1]) for arm in report.kv_quant.arms)
    dropped = report.replace(kv_quant=report.kv_quant.replace(arms=arms))
    assert found("KVQUANT_CONTROL", dropped) == ["1"]
    reference = edit_codec(report, "affine4", lambda arm: arm.replace(samples=arm.samples[:1]))
    both = edit_codec(reference, "lattice_d4", lambda arm: arm.replace(samples=arm.samples[:1]))
    assert [finding.field for finding in ask("KVQUANT_RATE", both, CLAIM)] == ["values"]


def test_an_oracle_that_cannot_recall_makes_no_test_of_recall() -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    low = report.replace(kv_quant=report.kv_quant.replace(oracle_recall=0.5))
    assert "0.5" in found("KVQUANT_CONTROL", low)


@pytest.mark.parametrize(("forgotten", "fires"), [(0, False), (2, False), (3, True), (10, True)])
def test_a_second_question_that_the_oracle_cannot_answer_fails_no_codec(forgotten: int, fires: bool) -> None:
    report = kv_quant()
    assert report.kv_quant is not None
    rows = tuple(
        row.replace(second=row.second.replace(correct=place >= forgotten))
        for place, row in enumerate(report.kv_quant.oracle)
    )
    findings = ask("KVQUANT_CONTROL", report.replace(kv_quant=report.kv_quant.replace(oracle=rows)))
    assert ("second.correct" in {finding.field for finding in findings}) is fires
