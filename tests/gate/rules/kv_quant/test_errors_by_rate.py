from tests.gate.asking import ask
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import edit_codec, errs


def test_more_bits_err_less() -> None:
    (finding,) = ask("KVQUANT_ORDER", errs(kv_quant(), "affine8", k=0.05, v=0.05))
    assert finding.arm == "affine8"
    other = edit_codec(errs(kv_quant(), "affine8", k=0.05, v=0.05), "affine8", lambda arm: arm.replace(codec="mine"))
    assert not ask("KVQUANT_ORDER", other)
