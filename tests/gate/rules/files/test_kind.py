import pytest

from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_kv_quant, measured_niah, measured_parity

NIAH = measured_niah(Setup(samples=2, repeats=1))

PARITY = measured_parity(Setup(samples=2))

CODECS = measured_kv_quant(Setup(samples=2))


@pytest.mark.parametrize(
    "report",
    [
        NIAH.replace(arms=()),
        NIAH.replace(kind="parity"),
        NIAH.replace(kind="kv_quant"),
        NIAH.replace(kind="chat"),
        NIAH.replace(kv_quant=CODECS.kv_quant),
        PARITY.replace(kind="niah"),
        PARITY.replace(parity=PARITY.parity.replace(blocks=())),
        CODECS.replace(kv_quant=None),
    ],
)
def test_a_report_holds_what_its_kind_measures(report):
    assert "kind" in {finding.field for finding in ask("KIND_MISMATCH", report)}


@pytest.mark.parametrize("report", [NIAH, NIAH.replace(kind="code"), PARITY, CODECS])
def test_kinds_with_their_rows_match(report):
    assert not ask("KIND_MISMATCH", report)


def test_kinds_of_other_tools_are_imported():
    imported = Imported(importer="llama-bench", original_digest="sha256:" + "0" * 64)
    assert not ask("KIND_MISMATCH", NIAH.replace(kind="benchmark", imported=imported))


def test_an_unknown_engine_is_not_judged_by_its_name():
    report = edit_arm(NIAH, "identity", lambda arm: arm.replace(engine="fussed"))
    assert [finding.found for finding in ask("KIND_MISMATCH", report)] == ["fussed"]
