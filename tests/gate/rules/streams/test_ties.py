"""Ties in float32 are rare."""

from reports.records.measurement import Mismatch, Restoration
from tests.gate.asking import ask
from tests.gate.cases.bases import code
from tests.gate.cases.streams import two_ties
from tests.gate.edits import edit_arm, set_verifier

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


def restoring():
    return Restoration(mode="f_theta", exact_layers=(), sink=4, window=64, eviction="strict", residency="transient")
