"""judge() is pure, believes nothing, and lets no crash acquit."""

import pytest

from gate.judging.apply_rules import apply_all
from gate.judging.judge import conclude, judge
from gate.judging.rule_set import all_rules
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ALL_METRICS, Example, Finding, Rule
from reports.records.measurement import BlockRecord
from reports.records.verdict import GateBlock, Violation
from reports.report import Report
from tests.gate.edits import asserted, edit_arm, set_claim, set_first_row, set_rows, set_verifier, without_arm
from tests.gate.honest import Setup, honest_code, honest_niah, measured_niah

SMALL = Setup(samples=2, repeats=1)


def codes(report: Report) -> set[str]:
    return {violation.code for violation in judge(report).violations}


@pytest.fixture
def crashing(monkeypatch):
    """Adds one rule to the set and makes it raise after its first finding, if it is to find one."""

    def add(*, claim_rule: bool, finds: bool = False, metrics: tuple[str, ...] = ALL_METRICS) -> None:
        def check(*_: object):
            if finds:
                yield Finding("found before the crash", field="x", found="1", allowed="0")
            raise RuntimeError("boom")

        checks = {("claim" if claim_rule else "evidence"): check}
        rule = Rule("CRASHES", "t", "c", "w", "f", 1, "withheld", metrics, Example("bad", "good"), **checks)
        rules = (*all_rules(), rule)
        monkeypatch.setattr("gate.judging.apply_rules.all_rules", lambda: rules)

    return add


@pytest.mark.parametrize("claim_rule", [False, True])
def test_a_rule_that_raises_condemns_the_report(crashing, claim_rule):
    report = honest_code()
    crashing(claim_rule=claim_rule)
    judgement = judge(report)
    assert judgement.verdict == "invalid"
    assert judgement.headlines == ()
    assert {claim.status for claim in judgement.claims} == {"withheld"}
    assert all("CRASHES" in claim.withheld_by for claim in judgement.claims)
    crash = next(violation for violation in judgement.violations if violation.code == "CRASHES")
    assert "RuntimeError: boom" in crash.message
    assert crash.claims == tuple(claim.name for claim in report.claims if claim.status == "admitted")


def test_a_claim_rule_that_raises_on_a_claim_nobody_makes_is_still_a_violation(crashing):
    report = asserted(honest_niah(SMALL))
    crashing(claim_rule=True, metrics=("oracle_recall",))
    judgement = judge(report)
    assert judgement.verdict == "invalid"
    assert "CRASHES" in {violation.code for violation in judgement.violations}


def test_a_crash_loses_nothing_that_was_found_before_it(crashing):
    report = honest_niah(SMALL)
    crashing(claim_rule=False, finds=True)
    crash = next(violation for violation in judge(report).violations if violation.code == "CRASHES")
    assert "found before the crash" in crash.message
    assert "boom" in crash.message


def test_judging_twice_gives_the_same_and_changes_nothing():
    report = honest_code()
    before = report.model_dump_json()
    assert judge(report) == judge(report)
    assert report.model_dump_json() == before


def test_judging_reads_no_file_and_no_clock(monkeypatch):
    report = honest_code(SMALL)
    expected = judge(report)

    def refused(*_: object, **__: object):
        raise AssertionError("judge() is pure")

    for name in ("builtins.open", "os.open", "os.stat", "time.time", "time.perf_counter", "time.monotonic"):
        monkeypatch.setattr(name, refused)
    found = judge(report)
    monkeypatch.undo()
    assert found == expected


def test_concluding_twice_gives_the_same():
    report = honest_niah(SMALL)
    assert conclude(report) == report


def test_what_is_not_claimed_is_no_violation_but_says_what_would_block_it():
    judgement = judge(honest_niah(Setup(samples=2, repeats=1)))
    assert judgement.verdict == "admissible"
    speedup = next(claim for claim in judgement.claims if claim.name == "decode_speedup/identity")
    assert speedup.status == "withheld"
    assert "SPEEDUP_SAMPLES" in speedup.withheld_by


def test_the_same_claim_made_is_a_violation():
    report = asserted(honest_niah(SMALL), "decode_speedup/identity")
    judgement = judge(report)
    assert judgement.verdict == "withheld"
    assert {"SPEEDUP_SAMPLES", "SPEEDUP_DECODE_TOKENS"} <= codes(report)
    assert judgement.headlines == ()


def test_a_rule_is_violated_once_however_many_rows_break_it():
    report = conclude(set_rows(measured_niah(SMALL), "identity", restoration_active=None))
    judgement = judge(report)
    assert [violation.code for violation in judgement.violations].count("MISSING_RESTORATION_FLAG") == 1


@pytest.mark.parametrize("count", [1, 7])
def test_many_findings_are_counted(count):
    report = measured_niah(Setup(samples=max(2, count), repeats=1))
    report = set_rows(report, "identity", restoration_active=None)
    found = next(v for v in judge(report).violations if v.code == "MISSING_RESTORATION_FLAG")
    assert found.arm == "identity"
    assert found.sample == 0
    assert ("more like these)" in found.message) is (count > 3)


def test_evidence_of_one_arm_under_test_blocks_only_its_claims():
    report = honest_code()
    report = conclude(edit_arm(report, "fused_ngram", lambda arm: arm.replace(stream_audit=None)))
    found = {claim.name: claim for claim in judge(report).claims}
    assert "STREAM_UNAUDITED" in found["decode_speedup/fused_ngram"].withheld_by
    assert found["decode_speedup/fused_dflash"].status == "admitted"


def test_broken_evidence_blocks_every_claim():
    report = conclude(set_first_row(honest_code(), "fused_ngram", decode_s=-1.0))
    judgement = judge(report)
    assert judgement.verdict == "invalid"
    assert {claim.status for claim in judgement.claims} == {"withheld"}
    assert judgement.headlines == ()


class TestStatedGateBlock:
    """A gate block is a statement like any other."""

    def test_a_verdict_that_is_not_derived_is_a_violation(self):
        report = conclude(set_first_row(honest_code(), "fused_ngram", decode_s=-1.0))
        assert report.gate is not None
        assert report.gate.verdict == "invalid"
        forged = report.replace(gate=report.gate.replace(verdict="admissible", violations=()))
        found = next(v for v in judge(forged).violations if v.code == "CLAIM_NOT_REPRODUCIBLE")
        assert found.field == "gate.verdict"
        assert (found.found, found.allowed) == ("admissible", "invalid")

    def test_reasons_removed_from_a_withheld_claim_are_a_violation(self):
        report = honest_niah(SMALL)
        forged = set_claim(report, "decode_speedup/identity", withheld_by=())
        judgement = judge(forged)
        assert "CLAIM_NOT_REPRODUCIBLE" in codes(forged)
        assert judgement.verdict == "invalid"

    def test_a_withheld_claim_admitted_by_hand_is_a_violation(self):
        report = honest_niah(SMALL)
        forged = set_claim(report, "decode_speedup/identity", status="admitted", withheld_by=())
        assert {"SPEEDUP_SAMPLES", "CLAIM_NOT_REPRODUCIBLE"} <= codes(forged)
        assert judge(forged).headlines == ()

    def test_one_of_another_rule_set_is_not_compared_and_not_believed(self):
        report = conclude(set_first_row(honest_code(), "fused_ngram", decode_s=-1.0))
        forged = report.replace(gate=GateBlock(rule_set=0, verdict="admissible"))
        judgement = judge(forged)
        assert judgement.verdict == "invalid"
        assert judgement.headlines == ()


class TestViolationsFromOutside:
    """Retractions reach the judge as violations, and block what they name."""

    def test_the_named_claim_is_blocked_and_the_others_stand(self):
        report = honest_code()
        taken_back = Violation(code="RETRACTED", message="m", claims=("decode_speedup/fused_dflash", "no_such/claim"))
        judgement = judge(report, (taken_back,))
        found = {claim.name: claim for claim in judgement.claims}
        assert judgement.verdict == "withheld"
        assert found["decode_speedup/fused_dflash"].withheld_by == ("RETRACTED",)
        assert found["decode_speedup/fused_ngram"].status == "admitted"
        assert judgement.violations[0].claims == ("decode_speedup/fused_dflash",)

    def test_an_unknown_code_counts_as_broken_evidence(self):
        judgement = judge(honest_code(), (Violation(code="NO_SUCH_RULE", message="m"),))
        assert judgement.verdict == "invalid"
        assert judgement.headlines == ()


class TestPaidFor:
    """Edits that pay off only if a rule sleeps."""

    def test_the_slower_of_two_oracles_is_no_baseline(self):
        report = edit_arm(honest_code(), "oracle_again", lambda arm: arm.replace(role="oracle"))
        assert "DUPLICATE_RECORDS" in codes(report)

    def test_a_speedup_against_a_peer_is_not_one(self):
        report = set_claim(honest_code(), "decode_speedup/fused_dflash", baseline="fused_ngram")
        assert {"CLAIM_MISLABELLED", "CLAIM_NOT_REPRODUCIBLE"} <= codes(report)

    def test_without_an_arm_that_a_claim_names_it_cannot_be_derived(self):
        report = without_arm(honest_code(), "oracle")
        assert "CLAIM_NOT_REPRODUCIBLE" in codes(report)
        assert judge(report).headlines == ()

    def test_a_control_that_restores_is_a_contradiction(self):
        report = set_rows(honest_niah(), "ablate", restored_positions=100, restoration_active=True)
        assert "RESTORATION_COUNTS" in codes(report)

    def test_a_model_in_bfloat16_may_tie_where_one_in_float32_may_not(self):
        from gate.rulebook.near_ties import tie_gap

        report = honest_code(SMALL)
        assert tie_gap(ReportView(set_verifier(report, dtype="bfloat16"))) > tie_gap(ReportView(report))

    def test_blocks_whose_times_were_halved_do_not_fill_the_decode_time(self):
        def halve(block: BlockRecord) -> BlockRecord:
            times = {n: getattr(block, n) / 2 for n in ("draft_s", "verify_s", "extend_s", "rollback_s", "seconds")}
            return block.replace(**times)

        def edit(row):
            rounds = tuple(halve(block) for block in row.speculation.rounds)
            return row.replace(speculation=row.speculation.replace(rounds=rounds))

        report = edit_arm(
            honest_code(SMALL),
            "fused_ngram",
            lambda arm: arm.replace(measurements=tuple(edit(row) for row in arm.measurements)),
        )
        assert "STAGE_ARITHMETIC" in codes(report)


def test_every_finding_names_a_field():
    report = asserted(honest_niah(SMALL), "decode_speedup/identity", "restoration_recall/identity")
    for hit in apply_all(ReportView(report)):
        assert hit.finding.field, hit.rule.code
        assert hit.finding.found is not None, hit.rule.code


def test_a_forged_gate_block_is_told_in_short_whole_words():
    report = honest_niah(SMALL)
    emptied = tuple(claim.replace(withheld_by=()) for claim in report.claims)
    (found,) = (v for v in judge(report.replace(claims=emptied)).violations if v.code == "CLAIM_NOT_REPRODUCIBLE")
    for message in found.message.split("; judged again")[:-1]:
        assert len(message) < 400
    assert "..." not in found.message
    assert "states none" in found.message
    assert " more" in found.message


def test_a_report_whose_preset_no_longer_ships_is_withheld_and_not_called_forged():
    """It was concluded where its preset shipped; a later K3 ships another file of that name."""
    report = honest_code()
    assert report.gate is not None
    assert report.preset is not None
    name = report.report_id.replace(report.preset.name, "demo", 1)
    later = report.replace(preset=report.preset.replace(name="demo"), report_id=name)
    judgement = judge(later)
    assert "PRESET_UNKNOWN" in codes(later)
    assert "CLAIM_NOT_REPRODUCIBLE" not in codes(later)
    assert judgement.verdict == "withheld"
