import pytest

from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import Speculation
from tests.gate.asking import ask
from tests.gate.cases.liveness import idle_blocks, projection_idle, undrafted
from tests.gate.edits import edit_arm, edit_rows, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))

DFLASH = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("dflash",)))


def labelled(report, arm, label):
    return edit_arm(report, arm, lambda one: one.replace(system_under_test=label))


def test_a_fused_arm_needs_one_block_in_all():
    report = set_rows(CODE, "fused_ngram", speculation=Speculation(blocks=0))
    assert [finding.found for finding in ask("FUSED_NEVER_RAN", report)] == ["0"]
    assert not ask("FUSED_NEVER_RAN", CODE)


def test_unknown_blocks_are_not_zero_blocks():
    assert not ask("FUSED_NEVER_RAN", set_rows(CODE, "fused_ngram", speculation=None))


def test_blocks_without_drafts_are_plain_steps():
    assert [finding.field for finding in ask("PROPOSER_NEVER_RAN", undrafted(CODE))] == ["speculation.drafted"]
    assert not ask("PROPOSER_NEVER_RAN", idle_blocks(CODE))


def test_what_drafts_in_no_time_did_not_run():
    def timeless(row):
        return row.replace(speculation=row.speculation.replace(draft_s=0.0))

    for report, name in ((DFLASH, "fused_dflash"), (CODE, "fused_ngram")):
        assert [f.field for f in ask("PROPOSER_NEVER_RAN", edit_rows(report, name, timeless))] == [
            "speculation.draft_s"
        ]


def test_a_drafter_that_is_told_to_be_sure_may_doubt_all_but_it_takes_time():
    def doubting(seconds):
        def edit(row):
            rounds = tuple(one.replace(drafted=0, accepted=0) for one in row.speculation.rounds)
            said = row.speculation.replace(rounds=rounds, drafted=0, accepted=0, draft_s=seconds)
            return row.replace(speculation=said)

        report = edit_rows(DFLASH, "fused_dflash", edit)
        return edit_arm(report, "fused_dflash", lambda arm: arm.replace(drafter=arm.drafter.replace(sure=0.3)))

    assert not ask("PROPOSER_NEVER_RAN", doubting(0.1))
    assert [finding.field for finding in ask("PROPOSER_NEVER_RAN", doubting(0.0))] == ["speculation.draft_s"]


def test_drafting_does_not_hide_that_nothing_was_restored():
    assert ask("FTHETA_NOT_RUN", projection_idle(CODE))


def test_where_nothing_ran_at_all_one_rule_says_so():
    report = set_rows(NIAH, "identity", restoration_active=False, restored_positions=0)
    assert ask("BASELINE_AS_SUT", report)
    assert not ask("FTHETA_NOT_RUN", report)
    assert ask("FTHETA_NOT_RUN", labelled(report, "identity", NATIVE_BASELINE_LABEL))


@pytest.mark.parametrize("arm", ["oracle", "identity", "ablate"])
def test_a_fallback_is_one_in_any_arm(arm):
    assert [f.arm for f in ask("SILENT_FALLBACK", set_rows(NIAH, arm, fallbacks=("plain loop",)))] == [arm, arm]
