"""Three outcomes of comparing a stream with the oracle's."""

from harness.checks.losslessness import Comparison, compare_streams
from reports.records.measurement import AuditedStream, Mismatch


def audit(*mismatches: tuple[int, float]) -> AuditedStream:
    found = tuple(Mismatch(position=at, emitted=1, argmax=2, gap=gap) for at, gap in mismatches)
    return AuditedStream(sample=0, repeat=0, tokens_checked=4, mismatches=found)


def test_equal_streams_are_exact() -> None:
    assert compare_streams([1, 2], (1, 2), [audit(), audit()], 1e-3) == Comparison("exact")


def test_streams_that_part_at_a_tie_are_near_ties() -> None:
    for audits in ([audit(), audit((1, 5e-4))], [audit((1, 5e-4)), audit()]):
        assert compare_streams([1, 2, 3], [1, 5, 6], audits, 1e-3) == Comparison("near_tie", 1, 5e-4)


def test_streams_that_part_elsewhere_diverge() -> None:
    assert compare_streams([1, 2], [1, 5], [audit(), audit()], 1e-3) == Comparison("divergent", 1)
    assert compare_streams([1, 2], [1, 5], [audit((1, 0.2)), audit()], 1e-3) == Comparison("divergent", 1, 0.2)


def test_a_stream_that_just_ends_diverges() -> None:
    assert compare_streams([1, 2], [1], [audit(), audit()], 1e-3) == Comparison("divergent", 1)


def test_a_token_that_is_no_tie_diverges_though_the_streams_are_equal() -> None:
    assert compare_streams([1, 2], [1, 2], [audit((0, 0.5)), audit((0, 0.5))], 1e-3) == Comparison("divergent", 0, 0.5)


def test_what_follows_a_tie_must_be_the_verifier_s_own_too() -> None:
    audits = [audit(), audit((1, 5e-4), (2, 0.3))]
    assert compare_streams([1, 2, 3], [1, 5, 6], audits, 1e-3) == Comparison("divergent", 2, 0.3)
