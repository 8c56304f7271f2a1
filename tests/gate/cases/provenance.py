"""Cases of the rules about where a run comes from."""

from reports.report import Report
from tests.gate.cases.bases import niah
from tests.gate.edits import set_source, set_verifier
from tests.gate.rule_case import RuleCase, measured

VERIFIER = "provenance/models/smollm2-135m"


def unfaithful(report: Report) -> Report:
    assert report.provenance is not None
    checked = report.provenance.models[0].faithfulness
    assert checked is not None
    return set_verifier(report, faithfulness=checked.replace(argmax_agreement=0.961))


CASES: dict[str, RuleCase] = {
    "PROVENANCE_MISSING": measured(niah, lambda report: report.replace(preset=None), "preset"),
    "DIRTY_TREE": measured(niah, lambda report: set_source(report, dirty=True), "provenance/source/dirty"),
    "MODEL_UNIDENTIFIED": measured(niah, lambda report: set_verifier(report, weights=None), f"{VERIFIER}/weights"),
    "MODEL_CODE_TRUSTED": measured(
        niah, lambda report: set_verifier(report, code=("config.json: model_file",)), f"{VERIFIER}/code"
    ),
    "MODEL_UNFAITHFUL": measured(niah, unfaithful, f"{VERIFIER}/faithfulness/argmax_agreement"),
}
