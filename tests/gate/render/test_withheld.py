"""What is withheld, in words, by what to change first."""

from pathlib import Path

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.withheld import withheld
from gate.rulebook.claim_kinds import CLAIM_KINDS
from reports.reading import Evidence
from reports.report import Report
from tests.gate.honest import Setup, honest_code, honest_niah
from tests.gate.render import samples


def judged(report: Report) -> JudgedFile:
    return judge_evidence(Evidence(Path("x.json"), report, None, "k3", report.kind, 2))


def test_every_claim_that_is_withheld_is_told_once_with_the_fix_of_its_first_rule() -> None:
    file = judged(honest_code(Setup(samples=3, repeats=3, draft_arms=("dflash",))))
    first, *others = withheld(file)
    rule = find_rule("SPEEDUP_SAMPLES")
    assert rule is not None
    assert (first.what, first.change) == ("the speed of fused_dflash", rule.fix)
    assert first.why.startswith("fused_dflash: 3 distinct prompts; a ratio needs at least 5")
    assert len(others) == 1
    assert "how many drafts of fused_dflash were accepted" in others[0].what


def test_a_cause_is_told_before_what_follows_from_it() -> None:
    for group in withheld(judged(honest_niah(Setup(samples=2, repeats=1)))):
        assert "contains 1" not in group.why


def test_a_violation_is_told_like_a_reason() -> None:
    (group,) = withheld(samples.withheld())
    assert (group.what, group.why) == ("the speed of fused", "3 samples; at least 5")


def test_what_the_report_does_not_claim_can_be_concluded() -> None:
    report = honest_code(Setup(samples=6, repeats=3, draft_arms=("dflash",)))
    silent = report.replace(
        gate=None, claims=tuple(claim.replace(status="withheld", withheld_by=()) for claim in report.claims)
    )
    groups = withheld(judged(silent))
    assert [group.change for group in groups if "does not claim" in group.why] == [
        "`k3 gate conclude` derives the claims anew."
    ]


def test_every_kind_of_claim_has_words() -> None:
    from gate.render.withheld import _WORDS

    assert set(_WORDS) == set(CLAIM_KINDS) - {"null_ratio"}
