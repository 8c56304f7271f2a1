import pytest

from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import Restoration
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, foreign, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

NATIVE = measured_niah(Setup(samples=2, repeats=1, suts=("native",)))

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


def labelled(report, arm, label):
    return edit_arm(report, arm, lambda one: one.replace(system_under_test=label))


def renamed(report, old, new):
    return edit_arm(report, old, lambda arm: arm.replace(name=new))


@pytest.mark.parametrize("label", [None, "native", "k3 fused"])
def test_only_the_one_label_makes_a_native_arm_honest(label):
    assert ask("BASELINE_AS_SUT", labelled(NATIVE, "native", label))
    assert not ask("BASELINE_AS_SUT", NATIVE)


def test_a_peer_is_under_test_too():
    report = edit_arm(labelled(NATIVE, "native", "k3"), "native", lambda arm: arm.replace(role="peer"))
    assert ask("BASELINE_AS_SUT", report)


def test_restoration_that_took_no_time_leaves_the_baseline():
    report = set_rows(NIAH, "identity", restoration_s=0.0)
    assert [finding.arm for finding in ask("BASELINE_AS_SUT", report)] == ["identity"]


def test_a_bounded_cache_that_evicts_is_no_baseline():
    mode = Restoration(mode="ablate", exact_layers=(), sink=4, window=64, eviction="strict")
    report = edit_arm(NATIVE, "native", lambda arm: arm.replace(restoration=mode, system_under_test="sink + window"))
    assert not ask("BASELINE_AS_SUT", set_rows(report, "native", evicted_positions=100))
    assert ask("BASELINE_AS_SUT", set_rows(report, "native", evicted_positions=0))


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda report: labelled(report, "fused_ngram", NATIVE_BASELINE_LABEL), "system_under_test"),
        (lambda report: edit_arm(report, "fused_ngram", lambda arm: arm.replace(drafter=None)), "drafter"),
        (lambda report: edit_arm(report, "oracle", lambda arm: arm.replace(decode_loop="plain")), "decode_loop"),
        (lambda report: set_rows(report, "oracle", evicted_positions=3), "system_under_test"),
    ],
)
def test_an_arm_is_described_as_its_rows_are(edit, field):
    assert [finding.field for finding in ask("LABEL_CONTRADICTED", edit(CODE))] == [field]


@pytest.mark.parametrize(
    ("report", "old", "new"),
    [
        (NIAH, "identity", "f_theta"),
        (NIAH, "identity", "ablate_sliding"),
        (NIAH, "ablate", "identity"),
        (NIAH, "oracle", "plain"),
        (NIAH, "oracle_again", "oracle"),
        (NIAH, "identity", "oracle_again"),
        (NATIVE, "native", "fused_native"),
    ],
)
def test_a_name_promises_no_other_role_mode_or_engine(report, old, new):
    assert "name" in {finding.field for finding in ask("LABEL_CONTRADICTED", renamed(report, old, new))}
    assert not ask("LABEL_CONTRADICTED", report)


@pytest.mark.parametrize(
    ("report", "old", "new"),
    [(NIAH, "identity", "restored"), (NIAH, "ablate", "full_exact"), (CODE, "fused_ngram", "lookup")],
)
def test_other_names_are_free(report, old, new):
    assert not ask("LABEL_CONTRADICTED", renamed(report, old, new))


@pytest.mark.parametrize("role", ["sut", "peer"])
def test_an_ablated_arm_is_a_control(role):
    report = edit_arm(NIAH, "ablate", lambda arm: arm.replace(role=role))
    assert [finding.field for finding in ask("LABEL_CONTRADICTED", report)] == ["role"]


def test_names_and_roles_of_other_tools_are_theirs():
    report = renamed(edit_arm(NIAH, "ablate", lambda arm: arm.replace(role="peer")), "oracle", "baseline")
    assert not ask("LABEL_CONTRADICTED", foreign(report))
