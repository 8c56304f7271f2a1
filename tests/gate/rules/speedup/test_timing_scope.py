import pytest

from gate.claims.propose import propose
from tests.gate.asking import ask, found
from tests.gate.edits import edit_arm, scale, set_first_row
from tests.gate.rules.speedup.timed_code import code

NGRAM, NATIVE = "decode_speedup/fused_ngram", "decode_speedup/native"


def test_decode_figures_are_needed_in_every_row_of_both_arms() -> None:
    assert not ask("SPEEDUP_DECODE_ONLY_MISSING", code(), NGRAM)
    for name in ("oracle", "fused_ngram"):
        assert found("SPEEDUP_DECODE_ONLY_MISSING", set_first_row(code(), name, decode_s=None), NGRAM) == ["4"]


def test_an_end_to_end_ratio_needs_the_decode_only_one_of_the_same_arms_beside_it() -> None:
    report = code()
    both = tuple(one for one in propose(report) if one.metric.endswith("speedup"))
    end_to_end = "e2e_speedup/fused_ngram"
    assert not ask("SPEEDUP_DECODE_ONLY_MISSING", report.replace(claims=both), end_to_end)
    other = tuple(one for one in both if one.name in (end_to_end, NATIVE))
    assert ask("SPEEDUP_DECODE_ONLY_MISSING", report.replace(claims=other), end_to_end)


def test_prefill_is_left_out_only_where_it_turns_the_ratio() -> None:
    report = code(ngram_speedup=1.5)
    assert not ask("SPEEDUP_PREFILL_LEFT_OUT", report, NGRAM)
    slow = scale(report, "fused_ngram", prefill=4.0)
    assert ask("SPEEDUP_PREFILL_LEFT_OUT", slow, NGRAM)
    assert not ask("SPEEDUP_PREFILL_LEFT_OUT", scale(slow, "fused_ngram", decode=2.0), NGRAM)


@pytest.mark.parametrize(
    ("ours", "theirs", "fires"),
    [
        ("stages", "stages", False),
        ("e2e_prefill_plus_decode", "e2e_prefill_plus_decode", False),
        ("stages", "e2e_prefill_plus_decode", True),
        (None, "stages", True),
        ("stages", None, True),
        (None, None, True),
    ],
)
def test_scopes_must_be_recorded_and_equal(ours: str | None, theirs: str | None, fires: bool) -> None:
    report = edit_arm(code(), "fused_ngram", lambda arm: arm.replace(timing_scope=ours))
    report = edit_arm(report, "oracle", lambda arm: arm.replace(timing_scope=theirs))
    assert bool(ask("SPEEDUP_SCOPE_MISMATCH", report, NGRAM)) is fires
