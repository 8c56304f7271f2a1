import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.claims.propose import propose
from reports.records.measurement import BlockRecord, Speculation
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, edit_first_row, foreign, set_first_row, set_plan
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))

IMPORTED = CODE.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))


def said(report, **changes):
    return edit_first_row(
        report, "fused_ngram", lambda row: row.replace(speculation=row.speculation.replace(**changes))
    )


def first_block(**changes):
    def edit(row):
        rounds = (row.speculation.rounds[0].replace(**changes), *row.speculation.rounds[1:])
        return row.replace(speculation=row.speculation.replace(rounds=rounds))

    return edit_first_row(CODE, "fused_ngram", edit)


DFLASH = measured_code(Setup(samples=2, repeats=1, max_new_tokens=24, draft_arms=("dflash",)))


def fewer(report, arm, number):
    def edit(row):
        rounds = list(row.speculation.rounds)
        rounds[number] = rounds[number].replace(drafted=rounds[number].accepted)
        return row.replace(speculation=row.speculation.replace(rounds=tuple(rounds)))

    return edit_first_row(report, arm, edit)


@pytest.mark.parametrize("name", ["blocks", "drafted", "accepted", "committed"])
def test_totals_are_those_of_the_rounds(name):
    fields = {finding.field for finding in ask("BLOCK_ARITHMETIC", said(CODE, **{name: 999}))}
    assert f"speculation.{name}" in fields


def test_no_more_is_accepted_than_drafted():
    assert "rounds.0.drafted" in {f.field for f in ask("BLOCK_ARITHMETIC", first_block(accepted=9, committed=10))}


def test_no_block_drafts_more_than_its_size():
    assert "rounds.0.drafted" in {f.field for f in ask("BLOCK_ARITHMETIC", first_block(drafted=64))}


def test_a_block_commits_what_it_accepted_plus_one():
    assert "rounds.0.committed" in {f.field for f in ask("BLOCK_ARITHMETIC", first_block(committed=5))}


def test_the_last_block_may_stop_inside_itself():
    def row_of(last_committed):
        block = {"draft_s": 0.0, "verify_s": 0.0, "extend_s": 0.0, "rollback_s": 0.0, "seconds": 0.1}
        rounds = (
            BlockRecord(drafted=7, accepted=2, committed=3, **block),
            BlockRecord(drafted=7, accepted=4, committed=last_committed, **block),
        )
        total = 3 + last_committed
        speculation = Speculation(
            blocks=2, drafted=14, accepted=6, committed=total, mean_accept_len=total / 2, rounds=rounds
        )
        return set_first_row(CODE, "fused_ngram", speculation=speculation, decode_tokens=total)

    assert not ask("BLOCK_ARITHMETIC", row_of(5))
    assert not ask("BLOCK_ARITHMETIC", row_of(4))
    assert ask("BLOCK_ARITHMETIC", row_of(3))
    assert ask("BLOCK_ARITHMETIC", row_of(6))


def test_committed_tokens_are_the_decoded_ones():
    report = set_first_row(CODE, "fused_ngram", decode_tokens=9)
    assert "speculation.committed" in {finding.field for finding in ask("BLOCK_ARITHMETIC", report)}


@pytest.mark.parametrize(
    ("counts", "mean", "fits"),
    [
        ("committed", 64 / 20, True),
        ("committed", 3.0, False),
        ("bonus_and_accepted", 2.6, True),
        ("bonus_and_accepted", 3.3, False),
        ("bonus_and_accepted", 2.1, False),
        ("accepted", 2.25, True),
        ("accepted", 3.5, False),
    ],
)
def test_a_stated_mean_accept_length_is_of_something(counts, mean, fits):
    speculation = Speculation(blocks=20, mean_accept_len=mean, accept_len_counts=counts)
    report = set_first_row(IMPORTED, "fused_ngram", speculation=speculation, decode_tokens=64)
    assert bool(ask("BLOCK_ARITHMETIC", report)) is not fits


def test_no_blocks_have_no_mean_length():
    report = set_first_row(CODE, "fused_ngram", speculation=Speculation(blocks=0, mean_accept_len=2.0))
    assert [finding.field for finding in ask("BLOCK_ARITHMETIC", report)] == ["speculation.mean_accept_len"]


@given(seed=st.integers(0, 10**6), acceptance=st.floats(0, 1), share=st.floats(0, 1))
def test_simulated_blocks_add_up(seed, acceptance, share):
    setup = Setup(samples=1, repeats=1, seed=seed, acceptance=acceptance, ngram_share=share, draft_arms=("ngram",))
    report = measured_code(setup)
    assert not ask("BLOCK_ARITHMETIC", report)
    assert not ask("DRAFTS_VARY", report)


def test_a_model_fills_its_block_while_there_is_room():
    first = DFLASH.arms[2].measurements[0].speculation.rounds[0]
    assert first.accepted < first.drafted
    assert ask("DRAFTS_VARY", fewer(DFLASH, "fused_dflash", 0))
    assert not ask("DRAFTS_VARY", DFLASH)


def test_near_the_end_of_the_budget_there_is_less_room():
    emitted = 1 + DFLASH.arms[2].measurements[0].speculation.rounds[0].committed
    assert not ask("DRAFTS_VARY", fewer(set_plan(DFLASH, max_new_tokens=2), "fused_dflash", 0))
    assert emitted > 1


def test_a_drafter_without_weights_drafts_what_it_finds():
    assert not ask("DRAFTS_VARY", fewer(CODE, "fused_ngram", 0))


def test_a_drafter_that_chooses_may_vary_and_has_no_acceptance_to_claim():
    def renamed(arm):
        return arm.replace(drafter=arm.drafter.replace(name="combined"))

    combined = edit_arm(fewer(DFLASH, "fused_dflash", 0), "fused_dflash", renamed)
    assert not ask("DRAFTS_VARY", combined)
    assert "acceptance/fused_dflash" in {claim.name for claim in propose(DFLASH)}
    assert "acceptance/fused_dflash" not in {claim.name for claim in propose(combined)}


def test_a_block_of_a_size_that_was_never_drafted_is_not_the_drafters():
    def sized(arm):
        return arm.replace(drafter=arm.drafter.replace(block_size=12))

    assert ask("DRAFTS_VARY", edit_arm(set_plan(DFLASH, max_new_tokens=64), "fused_dflash", sized))
    assert not ask("DRAFTS_VARY", foreign(edit_arm(DFLASH, "fused_dflash", sized)))


def rested(drafted, accepted=(0,) * 24):
    """A row of a drafter told to be sure, whose blocks drafted and accepted so many."""

    def edit(row):
        one = row.speculation.rounds[0]
        rounds = tuple(
            one.replace(drafted=made, accepted=kept, committed=kept + 1)
            for made, kept in zip(drafted, accepted, strict=False)
        )
        return row.replace(speculation=row.speculation.replace(rounds=rounds))

    told = edit_arm(DFLASH, "fused_dflash", lambda arm: arm.replace(drafter=arm.drafter.replace(sure=0.3)))
    found = ask("BLOCK_ARITHMETIC", edit_first_row(told, "fused_dflash", edit))
    return [finding.field for finding in found if finding.sample == 0 and "rested" in finding.message]


def test_a_drafter_that_is_told_to_be_sure_rests_where_it_failed():
    assert not rested([7, 7, 0, 7, 0, 0, 7, 0, 0, 0, 0, 7])
    assert not rested([0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3]), "an empty proposal is a failure, too"
    assert not rested([7, 7, 7, 7, 0], (3, 1, 0, 0, 0)), "it goes on while its first draft is right"
    assert rested([7, 7, 7]) == ["rounds.2.drafted"]
    assert rested([7, 7, 0, 7, 0, 7]) == ["rounds.5.drafted"]
    assert rested([0, 0, 0, 0, 7]) == ["rounds.4.drafted"], "two were empty, one rested, one was empty, two rest"
    assert not rested([7, 0, 7, 7], (1, 0, 1, 0)), "one failure is none"


def test_a_drafter_that_is_told_to_be_sure_may_vary_and_has_no_acceptance_to_claim():
    sure = edit_arm(DFLASH, "fused_dflash", lambda arm: arm.replace(drafter=arm.drafter.replace(sure=0.3)))
    assert not ask("DRAFTS_VARY", fewer(sure, "fused_dflash", 0))
    assert "acceptance/fused_dflash" not in {claim.name for claim in propose(sure)}
