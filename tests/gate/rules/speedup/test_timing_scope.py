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


def test_an_end_to_end_ratio_may_be_withheld_only_for_a_reason_that_holds() -> None:
    slow = scale(code(ngram_speedup=1.5), "fused_ngram", prefill=4.0)

    def left_out(*codes: str) -> bool:
        claims = tuple(
            one.replace(withheld_by=codes) if one.name == "e2e_speedup/fused_ngram" else one for one in propose(slow)
        )
        return bool(ask("SPEEDUP_PREFILL_LEFT_OUT", slow.replace(claims=claims), NGRAM))

    # no arm evicts here, nothing of it is from another tool, and nobody knows the last one
    for made_up in ("SPEEDUP_SCOPE_MISMATCH", "IMPORTED_UNVERIFIED", "SPEEDUP_PREFILL_LEFT_OUT", "NO_SUCH_RULE"):
        assert left_out(made_up)
    assert ask("SPEEDUP_REPEATS", slow, "e2e_speedup/fused_ngram")
    assert not left_out("NO_SUCH_RULE", "SPEEDUP_REPEATS")
