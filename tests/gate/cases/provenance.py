"""Cases of the rules about where a run comes from."""

from datetime import UTC, datetime

from reports.known_models import KNOWN_WEIGHTS
from reports.records.plan import Resume
from reports.records.provenance import PluginInfo
from reports.report import Report
from tests.gate.cases.bases import niah, of_december, of_known_weights
from tests.gate.edits import edit_arm, set_plan, set_source, set_verifier
from tests.gate.rule_case import RuleCase, measured

SMOLLM2 = next(digest for digest, name in KNOWN_WEIGHTS.items() if name == "smollm2-135m")
VERIFIER = "provenance/models/smollm2-135m"


def unfaithful(report: Report) -> Report:
    assert report.provenance is not None
    checked = report.provenance.models[0].faithfulness
    assert checked is not None
    return set_verifier(report, faithfulness=checked.replace(argmax_agreement=0.961))


def of_a_plugin_elsewhere(report: Report) -> Report:
    """The control's engine is that of a plug-in, which provenance names."""
    assert report.provenance is not None
    plugin = PluginInfo(group="engines", name="lookahead", distribution="another", version="1", code=SMOLLM2)
    brought = report.replace(provenance=report.provenance.replace(plugins=(plugin,)))
    return edit_arm(brought, "ablate", lambda arm: arm.replace(engine="lookahead"))


def on_a_mac(report: Report) -> Report:
    """The processor is said to be Apple's, in a machine that is none of theirs."""
    assert report.provenance is not None
    assert report.provenance.host is not None
    host = report.provenance.host.replace(chip="Apple M4 Max")
    return report.replace(provenance=report.provenance.replace(host=host))


CASES: dict[str, RuleCase] = {
    "PROVENANCE_MISSING": measured(niah, lambda report: report.replace(preset=None), "preset"),
    "DIRTY_TREE": measured(niah, lambda report: set_source(report, dirty=True), "provenance/source/dirty"),
    "REPORT_ID": measured(
        niah, lambda report: report.replace(report_id="niah-000000000000-20261129T161000Z"), "report_id"
    ),
    "DATE_AHEAD": measured(
        niah,
        lambda report: set_plan(report, resumes=(Resume(order=1, at=datetime(2126, 1, 1, tzinfo=UTC)),)),
        "plan/resumes",
    ),
    "MODEL_UNIDENTIFIED": measured(niah, lambda report: set_verifier(report, weights=None), f"{VERIFIER}/weights"),
    "PLUGIN_UNIDENTIFIED": measured(
        niah,
        lambda report: report.replace(workload=report.workload and report.workload.replace(form="riddles")),
        "workload/form",
    ),
    "PLUGIN_ABSENT": measured(niah, of_a_plugin_elsewhere, "provenance/plugins", "arms/ablate/engine"),
    "MODEL_MISNAMED": measured(
        niah,
        lambda report: set_verifier(report, id="llama-70b", weights=SMOLLM2),
        VERIFIER,
        "provenance/models/llama-70b",
    ),
    "MODEL_CONTRADICTED": measured(
        of_known_weights,
        lambda report: set_verifier(report, architecture="Gemma3ForCausalLM"),
        f"{VERIFIER}/architecture",
    ),
    "HOST_CONTRADICTED": measured(niah, on_a_mac, "provenance/host/chip"),
    "FORM_OF_OLD": measured(of_december, lambda report: report.replace(run_ledger=None), "run_ledger"),
    "MODEL_CODE_TRUSTED": measured(
        niah, lambda report: set_verifier(report, code=("config.json: model_file",)), f"{VERIFIER}/code"
    ),
    "MODEL_UNFAITHFUL": measured(niah, unfaithful, f"{VERIFIER}/faithfulness/argmax_agreement"),
}
