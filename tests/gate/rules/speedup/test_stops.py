"""A ratio of rates is one only between streams that stopped alike."""

import pytest

from reports.records.measurement import Measurement
from tests.gate.asking import ask, named
from tests.gate.edits import edit_rows, set_first_row, set_plan, set_rows
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


def stops(report):
    return [finding.field for finding in ask("EARLY_STOP", report, named(CODE, "decode_speedup/fused_ngram"))]


def test_streams_that_ran_out_of_budget_stopped_alike():
    assert stops(CODE) == []


def test_different_reasons_make_a_ratio_of_stops():
    assert stops(set_first_row(CODE, "fused_ngram", stop_reason="eos")) == ["stop_reason"]


def test_a_reason_that_is_not_recorded_follows_from_a_full_budget():
    bare = set_rows(set_rows(CODE, "oracle", stop_reason=None), "fused_ngram", stop_reason=None)
    assert stops(bare) == []
    assert set(stops(set_plan(bare, max_new_tokens=64))) == {"stop_reason"}


@pytest.mark.parametrize(("tokens", "alike"), [(10, True), (9, False), (12, True), (13, False)])
def test_streams_of_a_pair_are_about_as_long(tokens, alike):
    assert (stops(set_first_row(CODE, "fused_ngram", decode_tokens=tokens)) == []) is alike


def test_unknown_lengths_cannot_be_compared():
    assert "decode_tokens" in stops(set_rows(CODE, "fused_ngram", decode_tokens=None))


@pytest.mark.parametrize(("shortest", "alike"), [(3, True), (2, False)])
def test_an_arm_whose_streams_scatter_has_no_median(shortest, alike):
    def cut(row: Measurement) -> Measurement:
        return row.replace(decode_tokens=shortest) if row.sample == 0 else row

    report = CODE
    for arm in CODE.arms:
        report = edit_rows(report, arm.name, cut)
    assert (stops(report) == []) is alike
