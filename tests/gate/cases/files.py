"""Cases of the rules about files: their schema, their kind, where they come from, whether they were taken back."""

import datetime

from reports.retractions import Retraction
from tests.gate.cases.bases import IDENTITY, NGRAM, code, judged, niah
from tests.gate.edits import dated, edit_arm, foreign
from tests.gate.rule_case import RuleCase, measured, stated, written

NULL = "null_ratio/oracle_again"
TAKEN_BACK = Retraction(
    report_id=dated(niah(), datetime.datetime(2026, 11, 29, 18, tzinfo=datetime.UTC)).report_id,
    reason="the haystacks held the code twice",
    date=datetime.date(2026, 11, 29),
    superseded_by="niah-smollm2-lines-70",
)
"""In force wherever a case is judged."""

CASES: dict[str, RuleCase] = {
    "SCHEMA_INVALID": written(
        lambda: judged(niah()),
        lambda made: made["arms"][0]["measurements"][0].update(repeat="0"),
        "arms/oracle/measurements/0.0/repeat",
    ),
    "LEGACY_SCHEMA": written(lambda: judged(niah()), lambda made: made.update(schema_version=1), "schema_version"),
    "RETRACTED": stated(
        lambda: judged(niah()),
        lambda report: dated(report, datetime.datetime(2026, 11, 29, 18, tzinfo=datetime.UTC)),
        "report_id",
        "created_at",
    ),
    "KIND_MISMATCH": measured(
        niah,
        lambda report: edit_arm(report, "ablate", lambda arm: arm.replace(engine="incremental-v2")),
        "arms/ablate/engine",
    ),
    "IMPORTED_UNVERIFIED": stated(lambda: judged(niah(), NULL), foreign, "imported"),
    "IMPORT_FIELD": measured(
        code,
        lambda report: edit_arm(report, NGRAM, lambda arm: arm.replace(stated_acceptance=0.86)),
        f"arms/{NGRAM}/stated_acceptance",
    ),
    "NAME_UNFIT": measured(
        niah,
        lambda report: edit_arm(
            report, IDENTITY, lambda arm: arm.replace(system_under_test="k3 incremental, 5x faster")
        ),
        "arms/identity/system_under_test",
    ),
}
