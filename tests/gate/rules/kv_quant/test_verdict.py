from tests.gate.asking import ask, found
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import flip_verdict
from tests.gate.rules.kv_quant.codec_edits import bits, samples, without


def test_a_verdict_follows_from_bits_error_and_recall() -> None:
    assert not ask("KVQUANT_VERDICT", kv_quant())
    assert found("KVQUANT_VERDICT", flip_verdict(kv_quant())) == ["true"]
    assert found("KVQUANT_VERDICT", bits(kv_quant(), "hadamard_e8", 4.6)) == ["true"]
    assert found("KVQUANT_VERDICT", samples(kv_quant(), "hadamard_e8", correct=False)) == ["true"]


def test_a_verdict_that_nothing_gives_is_withheld() -> None:
    findings = ask("KVQUANT_VERDICT", without(kv_quant(), "affine4"))
    assert {finding.severity for finding in findings} == {"withheld"}
    assert len(findings) == 3
