import pytest

from reports.records.measurement import Speculation
from tests.gate.asking import ask
from tests.gate.edits import edit_first_row, foreign, set_first_row, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


@pytest.mark.parametrize("field", ["prefill_s", "decode_s", "e2e_s", "restoration_s"])
def test_every_stage_of_an_arm_under_test_must_be_timed(field):
    found = ask("MISSING_STAGE_TIMINGS", set_first_row(NIAH, "identity", **{field: None}))
    assert [(finding.sample, finding.field) for finding in found] == [(0, field)]


@pytest.mark.parametrize("arm", ["oracle", "ablate"])
def test_stages_of_other_arms_are_not_asked_for(arm):
    assert not ask("MISSING_STAGE_TIMINGS", set_first_row(NIAH, arm, e2e_s=None))


def test_a_stage_that_the_arm_does_not_have_is_not_asked_for():
    assert not ask("MISSING_STAGE_TIMINGS", set_rows(CODE, "fused_ngram", restoration_s=None))


def test_an_arm_under_test_without_rows_lacks_them_all():
    report = NIAH.replace(arms=tuple(a.replace(measurements=()) if a.name == "identity" else a for a in NIAH.arms))
    assert [finding.found for finding in ask("MISSING_STAGE_TIMINGS", report)] == ["0"]


@pytest.mark.parametrize(
    ("arm", "field"),
    [
        ("identity", "restored_positions"),
        ("identity", "evicted_positions"),
        ("identity", "fallbacks"),
        ("ablate", "evicted_positions"),
    ],
)
def test_counts_that_prove_restoration_and_eviction_are_needed(arm, field):
    found = ask("MISSING_LIVENESS", set_first_row(NIAH, arm, **{field: None}))
    assert [finding.field for finding in found] == [field]


def test_rounds_are_needed_to_tell_that_a_drafter_ran():
    def bare(row):
        return row.replace(speculation=row.speculation.replace(rounds=None))

    assert [f.field for f in ask("MISSING_LIVENESS", edit_first_row(CODE, "fused_ngram", bare))] == [
        "speculation.rounds"
    ]


def test_a_drafting_row_without_counts_cannot_be_told():
    report = set_first_row(CODE, "fused_ngram", speculation=None)
    assert [finding.field for finding in ask("MISSING_LIVENESS", report)] == ["speculation.drafted"]


def test_a_component_known_to_have_stood_still_is_not_unknown():
    report = set_rows(CODE, "fused_ngram", speculation=Speculation(blocks=0), fallbacks=None)
    assert not ask("MISSING_LIVENESS", report)


def test_a_plain_arm_says_which_fallbacks_it_took():
    report = measured_niah(Setup(samples=2, repeats=1, suts=("native",)))
    bare = set_first_row(report, "native", fallbacks=None)
    assert [finding.field for finding in ask("MISSING_LIVENESS", bare)] == ["fallbacks"]
    assert not ask("MISSING_LIVENESS", set_first_row(report, "oracle", fallbacks=None))
    assert not ask("MISSING_LIVENESS", foreign(bare))
