from gate.figures.prompt_shares import recall_at_most, recall_of, token_identity
from gate.figures.statistics.intervals import Share
from tests.gate.figures.rows import DIGESTS, arm, row


def test_recall_counts_prompts_that_every_repeat_recalled() -> None:
    rows = [row(0, 0, correct=True), row(0, 1, correct=False), row(1, 0, correct=True), row(1, 1, correct=True)]
    assert recall_of(arm(*rows)) == Share(1, 2)
    assert recall_at_most(arm(*rows), {0, 1}) == Share(2, 2)
    assert recall_at_most(arm(*rows), {0}) == Share(1, 1)
    assert recall_at_most(arm(*rows), {7}) is None


def test_recall_of_a_prompt_asked_under_two_numbers_counts_once() -> None:
    rows = [row(0, correct=True), row(1, correct=True, prompt_digest=DIGESTS[0])]
    assert recall_of(arm(*rows)) == Share(1, 1)


def test_recall_with_an_unscored_row_is_unknown() -> None:
    assert recall_of(arm(row(0, correct=True), row(1, correct=None))) is None
    assert recall_of(arm()) is None


def test_token_identity_counts_rows_and_needs_every_stream() -> None:
    ours = arm(row(0, token_ids=(1, 2)), row(1, token_ids=(1, 3)))
    theirs = arm(row(0, token_ids=(1, 2)), row(1, token_ids=(1, 2)))
    assert token_identity(ours, theirs) == Share(1, 2)
    assert token_identity(ours, arm(row(0, token_ids=(1, 2)))) is None
    assert token_identity(arm(row(0)), theirs) is None
