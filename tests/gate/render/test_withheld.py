"""What is withheld, in words, by what to change first."""

import re
from dataclasses import replace
from pathlib import Path

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import all_rules, find_rule
from gate.render.withheld import withheld
from gate.rulebook.claim_kinds import CLAIM_KINDS
from gate.rulebook.report_view import ReportView
from gate.rules.speedup.sample_size import groups
from harness.base.lazy_commands import Group
from harness.cli import COMMANDS
from reports.reading.evidence import Evidence
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
    assert (group.what, group.why) == ("the speed of fused in decoding", "3 samples; at least 5")


def test_of_a_speed_that_is_withheld_alone_it_is_told_which() -> None:
    """A sentence about the other one may stand beside it."""
    file = judged(honest_code(Setup(draft_arms=("dflash",))))
    assert {claim.name for claim in file.claims} > {"decode_speedup/fused_dflash", "e2e_speedup/fused_dflash"}

    def told(*names: str) -> list[str]:
        claims = (claim.replace(status="withheld", withheld_by=("SPEEDUP_DRIFT",)) for claim in file.claims)
        return [one.what for one in withheld(replace(file, claims=tuple(one for one in claims if one.name in names)))]

    assert told("decode_speedup/fused_dflash") == ["the speed of fused_dflash in decoding"]
    assert told("e2e_speedup/fused_dflash") == ["the speed of fused_dflash from end to end"]
    assert told("decode_speedup/fused_dflash", "e2e_speedup/fused_dflash") == ["the speed of fused_dflash"]


def test_what_the_report_does_not_claim_can_be_concluded() -> None:
    report = honest_code(Setup(samples=6, repeats=3, draft_arms=("dflash",)))
    silent = report.replace(
        gate=None, claims=tuple(claim.replace(status="withheld", withheld_by=()) for claim in report.claims)
    )
    groups = withheld(judged(silent))
    assert [group.change for group in groups if "does not claim" in group.why] == [
        "`k3 gate conclude` derives the claims anew."
    ]


def test_on_a_busy_machine_what_noise_broke_is_to_be_measured_again() -> None:
    report = honest_code(Setup(samples=6, repeats=3, speedup=1.0, draft_arms=("dflash",)))
    quiet = judged(report)
    busy = replace(quiet, busy="This machine was busy.")
    (was,) = [group.change for group in withheld(quiet) if "the speed of" in group.what]
    (now,) = [group.change for group in withheld(busy) if "the speed of" in group.what]
    assert was != now == "Run it again when nothing else runs on this machine."
    few = replace(judged(honest_code(Setup(samples=3, repeats=3))), busy="This machine was busy.")
    assert "--samples" in withheld(few)[0].change


def test_commands_that_rules_advise_are_there() -> None:
    said = [text for rule in all_rules() for text in re.findall(r"`k3 ([^`]+)`", rule.fix)]
    assert len(said) > 10
    for text in said:
        words = text.split()
        command = COMMANDS[words[0]]
        if isinstance(command, Group):
            assert words[1] in command.commands, text


def test_every_kind_of_claim_has_words() -> None:
    from gate.render.withheld import _WORDS

    assert set(_WORDS) == set(CLAIM_KINDS) - {"null_ratio"}


def test_kinds_that_were_answered_alike_are_told_as_such() -> None:
    report = honest_code(Setup(samples=6, repeats=3, draft_arms=("dflash",)))
    stream = report.arms[0].measurements[0].token_ids
    assert stream is not None
    arms = []
    for arm in report.arms:
        alike = (row.replace(token_ids=stream) if row.sample < 2 else row for row in arm.measurements)
        arms.append(arm.replace(measurements=tuple(alike)))
    found = ReportView(report.replace(arms=tuple(arms)))
    claim = next(one for one in report.claims if one.name == "decode_speedup/fused_dflash")
    (finding,) = groups(found, claim)
    assert "of 5 kinds, 6 by name, as the plain model answers some alike" in finding.message
    rule = find_rule("SPEEDUP_GROUPS")
    assert rule is not None
    assert "answers alike" in rule.catches
