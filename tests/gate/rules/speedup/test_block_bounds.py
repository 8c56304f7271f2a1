from tests.gate.asking import ask
from tests.gate.cases.bounds import cut_verification, halve_decode, too_fast
from tests.gate.edits import edit_rows
from tests.gate.rules.speedup.timed_code import CODE

CLAIM = "decode_speedup/fused_ngram"


def test_blocks_bound_the_decode_ratio():
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", CODE, CLAIM)
    for claim in (CLAIM, "e2e_speedup/fused_ngram"):
        assert [finding.field for finding in ask("SPEEDUP_OVER_ACCEPTANCE", too_fast(CODE), claim)] == ["decode_s"]


def test_blocks_bound_it_also_where_rounds_are_not_recorded():
    def bare(row):
        return row.replace(speculation=row.speculation.replace(rounds=None))

    assert ask("SPEEDUP_OVER_ACCEPTANCE", edit_rows(too_fast(CODE), "fused_ngram", bare), CLAIM)
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", edit_rows(CODE, "fused_ngram", bare), CLAIM)


def test_an_arm_that_does_not_draft_has_no_such_bound():
    report = halve_decode("native")(CODE)
    assert not ask("SPEEDUP_OVER_ACCEPTANCE", report, "decode_speedup/native")


def test_a_block_takes_a_step_at_least():
    report = edit_rows(CODE, "fused_ngram", cut_verification)
    assert not ask("SPEEDUP_VERIFY_FAST", CODE, CLAIM)
    assert [finding.field for finding in ask("SPEEDUP_VERIFY_FAST", report, CLAIM)] == ["verify_s"]
    assert not ask("SPEEDUP_VERIFY_FAST", report, "decode_speedup/native")


def test_without_blocks_their_time_is_not_known():
    bare = edit_rows(CODE, "fused_ngram", lambda row: row.replace(speculation=row.speculation.replace(rounds=None)))
    assert not ask("SPEEDUP_VERIFY_FAST", bare, CLAIM)
