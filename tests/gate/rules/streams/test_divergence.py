import pytest

from gate.judging.judge import conclude, judge
from gate.rulebook.thresholds import NEAR_TIE_GAP, NEAR_TIE_GAP_BFLOAT16, NEAR_TIE_GAP_FLOAT16
from reports.engines import ENGINES
from reports.records.measurement import Mismatch, Restoration, ServedBy
from tests.gate.asking import ask
from tests.gate.cases.bases import code
from tests.gate.cases.streams import two_ties
from tests.gate.edits import edit_arm, edit_first_row, in_processes, set_first_row, set_rows, set_verifier
from tests.gate.honest import Setup, measured_code
from tests.gate.rules.streams.audited_streams import CODE, NIAH, audited


def other_token(report, arm, place, token=7):
    def edit(row):
        ids = (*row.token_ids[:place], token, *row.token_ids[place + 1 :])
        return row.replace(token_ids=ids, text=f"{row.text}'")

    return edit_first_row(report, arm, edit)


def astray(role, engine):
    """A report that stands, in which the arm with the drafter model plays `role` in `engine` and leaves the oracle."""
    loop = ENGINES[engine].decode_loop
    report = set_rows(measured_code(Setup()), "fused_dflash", decode_loop=loop)
    report = edit_arm(report, "fused_dflash", lambda arm: arm.replace(role=role, engine=engine, decode_loop=loop))
    place = report.arms[0].measurements[0].token_ids[5] + 1
    told = [row for row in report.arms[2].measurements if row.sample == 0]
    miss = Mismatch(position=5, emitted=place, argmax=place - 1, gap=0.5)

    def leave(arm):
        rows = (row.replace(token_ids=(*row.token_ids[:5], place, *row.token_ids[6:])) for row in told)
        others = [row for row in arm.measurements if row.sample != 0]
        streams = (s.replace(mismatches=(miss,)) if s.sample == 0 else s for s in arm.stream_audit.streams)
        audit = arm.stream_audit.replace(streams=tuple(streams))
        return arm.replace(measurements=(*rows, *others), stream_audit=audit)

    return report, edit_arm(report, "fused_dflash", leave)


REPORT = code()


def with_ties(report, arm, *counts, tokens=24):
    """The audit of an arm with so many mismatches in each of its streams."""

    def edit(one):
        streams = tuple(
            stream.replace(
                tokens_checked=tokens,
                mismatches=tuple(Mismatch(position=at, emitted=7, argmax=8, gap=0.001) for at in range(count)),
            )
            for stream, count in zip(one.stream_audit.streams, counts, strict=True)
        )
        return one.replace(stream_audit=one.stream_audit.replace(streams=streams))

    return edit_arm(report, arm, edit)


def restoring():
    return Restoration(mode="f_theta", exact_layers=(), sink=4, window=64, eviction="strict", residency="transient")


def test_a_token_that_is_not_the_argmax_diverges():
    report = audited(CODE, "fused_ngram", Mismatch(position=3, emitted=1, argmax=2, gap=0.5))
    assert [finding.found for finding in ask("STREAM_DIVERGENCE", report)] == ["0.5"]


@pytest.mark.parametrize(
    ("dtype", "gap", "diverges"),
    [
        ("float32", NEAR_TIE_GAP.value, False),
        ("float32", NEAR_TIE_GAP.value * 1.01, True),
        ("bfloat16", NEAR_TIE_GAP_BFLOAT16.value, False),
        ("bfloat16", NEAR_TIE_GAP_BFLOAT16.value * 1.01, True),
        ("float16", NEAR_TIE_GAP_FLOAT16.value * 1.01, True),
        (None, NEAR_TIE_GAP.value * 1.01, True),
    ],
)
def test_a_tie_is_as_wide_as_the_verifiers_precision(dtype, gap, diverges):
    report = audited(CODE, "fused_ngram", Mismatch(position=3, emitted=1, argmax=2, gap=gap))
    assert bool(ask("STREAM_DIVERGENCE", set_verifier(report, dtype=dtype))) is diverges


def test_a_stream_that_leaves_the_oracles_must_tie_there():
    report = other_token(CODE, "fused_ngram", 5)
    assert [finding.found for finding in ask("STREAM_DIVERGENCE", report)] == ["differs at token 5"]
    tie = Mismatch(position=5, emitted=7, argmax=8, gap=0.001)
    assert not ask("STREAM_DIVERGENCE", audited(report, "fused_ngram", tie))
    elsewhere = Mismatch(position=4, emitted=7, argmax=8, gap=0.001)
    assert ask("STREAM_DIVERGENCE", audited(report, "fused_ngram", elsewhere))


def test_a_stream_that_ends_before_the_oracles_diverges():
    report = edit_first_row(CODE, "fused_ngram", lambda row: row.replace(token_ids=row.token_ids[:-2]))
    assert [finding.found for finding in ask("STREAM_DIVERGENCE", report)] == ["differs at token 10"]


def test_repeats_of_one_arm_are_compared_too():
    def last(row):
        return row.replace(token_ids=(*row.token_ids[:-1], 7))

    report = edit_arm(
        CODE,
        "oracle",
        lambda arm: arm.replace(measurements=tuple(last(row) if row.repeat == 1 else row for row in arm.measurements)),
    )
    assert {finding.arm for finding in ask("STREAM_DIVERGENCE", report)} >= {"oracle"}


def test_a_peer_of_another_project_that_goes_astray_loses_its_own_claims_and_no_others():
    before, after = (conclude(report) for report in astray("peer", "mlx-lm-speculative"))
    assert before.gate.verdict == "admissible"
    assert after.gate.verdict == "admissible", "what a peer does is a result of the run"
    told = {claim.name: claim for claim in after.claims}
    for claim in told.values():
        assert (claim.status == "withheld") is (
            claim.arm == "fused_dflash" or claim.name in {one.name for one in before.claims if one.status == "withheld"}
        )
    assert told["decode_speedup/fused_ngram"].status == "admitted"
    assert "STREAM_DIVERGENCE" in told["decode_speedup/fused_dflash"].withheld_by
    boasted = tuple(
        claim.replace(status="claimed", withheld_by=()) if claim.arm == "fused_dflash" else claim
        for claim in after.claims
    )
    assert "STREAM_DIVERGENCE" in {violation.code for violation in judge(after.replace(claims=boasted)).violations}


def test_a_stream_that_was_read_from_text_accuses_nobody():
    served = ServedBy(protocol="openai.completions", token_ids="read_back")

    def reading(report):
        return conclude(edit_arm(report, "fused_dflash", lambda arm: arm.replace(served_by=served)))

    sound, parted = (reading(report) for report in astray("peer", "mlx-lm-speculative"))
    for report, withheld in ((sound, False), (parted, True)):
        claims = {claim.name: claim for claim in report.claims}
        assert report.gate.verdict == "admissible"
        assert ("STREAM_READ_BACK" in claims["decode_speedup/fused_dflash"].withheld_by) is withheld
        assert not any("STREAM_DIVERGENCE" in claim.withheld_by for claim in report.claims)
        assert claims["decode_speedup/fused_ngram"].status == "admitted"
    assert reading(astray("sut", "fused")[1]).gate.verdict == "invalid", "the mark excuses no engine of ours"


def test_a_server_that_counts_other_tokens_than_were_read_is_told():
    served = ServedBy(protocol="openai.completions", token_ids="read_back")
    sound = astray("peer", "mlx-lm-speculative")[0]

    def counting(more, stop):
        def said(arm):
            rows = (row.replace(served_tokens=len(row.token_ids) + more, stop_reason=stop) for row in arm.measurements)
            return arm.replace(served_by=served, measurements=tuple(rows))

        return ask("STREAM_READ_BACK", edit_arm(sound, "fused_dflash", said))

    assert not counting(0, "length")
    assert not counting(-1, "eos"), "the end of text counts with some servers"
    for more, stop in ((1, "length"), (-1, "length"), (-2, "eos"), (1, "eos")):
        (finding,) = counting(more, stop)
        assert "the server says it generated" in finding.message
        assert finding.field == "served_tokens"


def test_a_server_that_tells_its_count_of_some_rows_tells_it_of_all():
    served = ServedBy(protocol="openai.completions", token_ids="read_back")

    def said(arm):
        first, *others = arm.measurements
        told = (row.replace(served_tokens=len(row.token_ids)) for row in others)
        return arm.replace(served_by=served, measurements=(first, *told))

    (finding,) = ask("STREAM_READ_BACK", edit_arm(astray("peer", "mlx-lm-speculative")[0], "fused_dflash", said))
    assert (finding.field, finding.found) == ("served_tokens", "none")


@pytest.mark.parametrize(("role", "engine"), [("sut", "mlx-lm-speculative"), ("peer", "fused"), ("sut", "fused")])
def test_neither_our_own_engine_nor_a_system_under_test_is_such_a_peer(role, engine):
    assert conclude(astray(role, engine)[1]).gate.verdict == "invalid"


def test_a_lossy_arm_may_say_what_it_likes():
    assert NIAH.arms[3].name == "ablate"
    assert not ask("STREAM_DIVERGENCE", NIAH)


def test_texts_are_compared_where_ids_are_missing():
    report = set_rows(set_rows(CODE, "oracle", token_ids=None), "fused_ngram", token_ids=None)
    assert not ask("STREAM_DIVERGENCE", report)
    assert ask("STREAM_DIVERGENCE", set_first_row(report, "fused_ngram", text="something else"))


def test_one_tie_is_an_accident_and_two_are_none():
    assert not ask("STREAM_TIES", REPORT)
    assert not ask("STREAM_TIES", with_ties(REPORT, "fused_ngram", 1, 0))
    assert [finding.found for finding in ask("STREAM_TIES", two_ties(REPORT))] == ["2"]


def test_long_streams_may_have_more():
    assert not ask("STREAM_TIES", with_ties(REPORT, "oracle", 2, 0, tokens=500))
    assert ask("STREAM_TIES", with_ties(REPORT, "oracle", 2, 1, tokens=500))


def test_coarser_formats_tie_often():
    for dtype in ("float16", "bfloat16", None):
        assert not ask("STREAM_TIES", set_verifier(two_ties(REPORT), dtype=dtype))


def test_lossy_arms_say_other_things_by_design():
    report = edit_arm(two_ties(REPORT), "fused_ngram", lambda arm: arm.replace(restoration=restoring()))
    assert not ask("STREAM_TIES", report)


@pytest.mark.parametrize("name", ["oracle", "oracle_again", "fused_ngram"])
def test_a_process_that_says_something_else_than_the_first_is_told(name):
    report = in_processes(measured_code(Setup(samples=6, repeats=3, draft_arms=("ngram",))))
    assert not ask("STREAM_DIVERGENCE", report)

    def other(arm):
        rows = [row for row in arm.measurements if (row.sample, row.process) != (3, 2)]
        (own,) = set(arm.measurements) - set(rows)
        ids = (*own.token_ids[:5], own.token_ids[5] + 1, *own.token_ids[6:])
        return arm.replace(measurements=(*rows, own.replace(token_ids=ids)))

    (finding,) = ask("STREAM_DIVERGENCE", edit_arm(report, name, other))
    assert "sample 3" in finding.message
    assert "leaves that of oracle (repeat 0) at token 5" in finding.message
