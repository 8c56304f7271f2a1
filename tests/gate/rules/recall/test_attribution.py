from gate.claims.propose import propose
from reports.records.claims import RecallClaim
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, set_first_row
from tests.gate.honest import Setup, measured_niah

CLAIM, ORACLE, NATIVE = "restoration_recall/identity", "oracle_recall/oracle", "native_baseline_recall/native"


def niah(samples: int = 5, **changes: object) -> Report:
    """A needle report, each prompt once."""
    return measured_niah(Setup(**({"samples": samples, "repeats": 1} | changes)))  # type: ignore[arg-type]


def with_native() -> Report:
    """The same with a native loop as system under test."""
    return niah(suts=("identity", "native"))


def relabelled(report: Report, metric: str, claim: str) -> Report:
    """A claim under another metric."""
    old = next(one for one in propose(report) if one.name == claim)
    new = RecallClaim.model_validate(old.model_dump() | {"name": f"{metric}/{old.arm}", "metric": metric})
    return report.replace(claims=(new,))


def test_a_native_loop_claims_a_native_recall_only() -> None:
    report = with_native()
    assert not ask("BASELINE_RECALL_CLAIM", report, NATIVE)
    assert not ask("BASELINE_RECALL_CLAIM", report, CLAIM)
    for metric in ("restoration_recall", "arm_recall"):
        assert ask("BASELINE_RECALL_CLAIM", relabelled(report, metric, NATIVE), f"{metric}/native")


def test_a_label_binds_in_both_directions() -> None:
    report = edit_arm(niah(), "identity", lambda arm: arm.replace(system_under_test=NATIVE_BASELINE_LABEL))
    claimed = relabelled(report, "arm_recall", "native_baseline_recall/identity")
    assert ask("BASELINE_RECALL_CLAIM", claimed, "arm_recall/identity")
    other = relabelled(niah(), "native_baseline_recall", CLAIM)
    assert ask("BASELINE_RECALL_CLAIM", other, "native_baseline_recall/identity")


def test_every_row_must_have_restored() -> None:
    assert not ask("RECALL_SCOPE", niah(), CLAIM)
    for changes in (
        {"restoration_active": None},
        {"restoration_active": False},
        {"restored_positions": 0},
        {"restoration_s": 0.0},
        {"restoration_s": None},
    ):
        assert found("RECALL_SCOPE", set_first_row(niah(), "identity", **changes), CLAIM) == ["4"]


def test_a_row_restores_nearly_all_that_was_evicted() -> None:
    report = niah()
    row = next(arm for arm in report.arms if arm.name == "identity").measurements[0]
    gone = row.evicted_positions or 0
    for share, fires in ((0.96, False), (0.94, True), (1 / 30, True)):
        restored = set_first_row(report, "identity", restored_positions=round(share * gone))
        assert bool(ask("RECALL_SCOPE", restored, CLAIM)) is fires
