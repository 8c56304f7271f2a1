from gate.claims.propose import propose
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, edit_first_row, foreign, set_plan
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))

DFLASH = measured_code(Setup(samples=2, repeats=1, max_new_tokens=24, draft_arms=("dflash",)))


def fewer(report, arm, number):
    def edit(row):
        rounds = list(row.speculation.rounds)
        rounds[number] = rounds[number].replace(drafted=rounds[number].accepted)
        return row.replace(speculation=row.speculation.replace(rounds=tuple(rounds)))

    return edit_first_row(report, arm, edit)


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
