import pytest

from gate.claims.propose import propose
from gate.judging.rule_set import RULE_SET
from reports.records.claims import Interval
from reports.records.measurement import StatedRate
from reports.records.verdict import GateBlock
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, edit_rows, set_claim, set_first_row
from tests.gate.honest import Setup, measured_code, measured_niah

MEASURED = measured_code(Setup(samples=3, repeats=2, max_new_tokens=24, draft_arms=("ngram",)))
CODE = MEASURED.replace(claims=propose(MEASURED))

SPEEDUP = "decode_speedup/fused_ngram"

IMPORTED = CODE.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))


def fields(report):
    return {finding.field for finding in ask("CLAIM_NOT_REPRODUCIBLE", report)}


def claim(name):
    return next(one for one in CODE.claims if one.name == name)


def test_what_the_rows_give_is_reproducible():
    assert fields(CODE) == set()


@pytest.mark.parametrize("status", ["claimed", "admitted", "withheld"])
def test_a_claim_of_any_status_is_derived_again(status):
    report = set_claim(CODE, SPEEDUP, value=2.58, status=status)
    assert fields(report) == {"claims.value"}


@pytest.mark.parametrize("factor", [1 + 1e-9, 1 + 1e-4])
def test_only_the_last_digits_may_differ(factor):
    report = set_claim(CODE, SPEEDUP, value=claim(SPEEDUP).value * factor)
    assert bool(fields(report)) is (factor > 1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "changes", "field"),
    [
        (SPEEDUP, {"interval": Interval(low=1.2, high=1.3, method="bootstrap")}, "claims.interval.low"),
        (SPEEDUP, {"interval": None}, "claims.interval.low"),
        (SPEEDUP, {"leave_one_out": (1.0, 9.0)}, "claims.leave_one_out.1"),
        (SPEEDUP, {"leave_one_out": None}, "claims.leave_one_out.0"),
        ("acceptance/fused_ngram", {"value": 0.9}, "claims.value"),
        ("acceptance/fused_ngram", {"committed_per_block": 7.0}, "claims.committed_per_block"),
        ("acceptance/fused_ngram", {"by_position": (1.0,)}, "claims.by_position.1"),
        ("token_identity/fused_ngram", {"value": 0.5}, "claims.value"),
        ("null_ratio/oracle_again", {"value": 3.0}, "claims.value"),
        (SPEEDUP, {"arm": "nobody"}, "claims.value"),
    ],
)
def test_every_number_of_a_claim_is_derived_again(name, changes, field):
    assert field in fields(set_claim(CODE, name, **changes))


@pytest.mark.parametrize(("rule_set", "severity"), [(5, "withheld"), (RULE_SET, None)])
def test_an_interval_of_an_older_rule_set_is_to_be_made_anew_and_not_forged(rule_set, severity):
    ours = claim(SPEEDUP).interval
    older = set_claim(CODE, SPEEDUP, interval=ours.replace(high=ours.high * 0.99))
    older = older.replace(gate=GateBlock(rule_set=rule_set, verdict="admissible"))
    (finding,) = ask("CLAIM_NOT_REPRODUCIBLE", older)
    assert finding.severity == severity
    assert ("k3 gate conclude" in finding.message) is (rule_set == 5)


def test_a_value_of_an_older_rule_set_is_held_to_the_rows():
    """Only the interval was another: the ratio is what it was."""
    older = set_claim(CODE, SPEEDUP, value=2.58).replace(gate=GateBlock(rule_set=5, verdict="admissible"))
    assert [finding.severity for finding in ask("CLAIM_NOT_REPRODUCIBLE", older)] == [None]


class TestImports:
    """Another tool's figures: any honest estimator, within a hundredth."""

    def ratio(self, value):
        report = IMPORTED.replace(claims=(claim(SPEEDUP).replace(value=value, interval=None, leave_one_out=None),))
        return ask("CLAIM_NOT_REPRODUCIBLE", report)

    def totals(self):
        def rate(name):
            rows = next(arm for arm in CODE.arms if arm.name == name).measurements
            return sum(row.decode_tokens for row in rows) / sum(row.decode_s for row in rows)

        return rate("fused_ngram") / rate("oracle")

    @pytest.mark.parametrize("factor", [1.0, 1.009, 0.991])
    def test_a_ratio_of_totals_is_honest(self, factor):
        assert not self.ratio(self.totals() * factor)

    def test_a_ratio_that_no_estimator_gives_is_broken(self):
        assert [finding.severity for finding in self.ratio(self.totals() * 1.5)] == [None]

    @pytest.mark.parametrize("lacking", ["e2e_s", "decode_s", "speculation"])
    def test_a_ratio_over_rows_of_which_one_lacks_a_figure_is_withheld(self, lacking):
        """The tool may have counted the turn that failed."""
        report = set_first_row(IMPORTED, "fused_ngram", **{lacking: None})
        stated = claim(SPEEDUP).replace(value=self.totals() * 1.5, interval=None, leave_one_out=None)
        found = ask("CLAIM_NOT_REPRODUCIBLE", report.replace(claims=(stated,)))
        assert [finding.severity for finding in found] == ["withheld"]

    def test_what_the_rows_cannot_give_is_withheld(self):
        report = IMPORTED
        for arm in ("oracle", "fused_ngram"):
            report = edit_arm(report, arm, lambda one: one.replace(measurements=()))
        report = report.replace(claims=(claim(SPEEDUP).replace(interval=None, leave_one_out=None),))
        assert [finding.severity for finding in ask("CLAIM_NOT_REPRODUCIBLE", report)] == ["withheld"]

    @pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (1.3, False)])
    def test_a_printed_rate_is_derived_from_the_rows(self, factor, fits):
        rows = CODE.arms[0].measurements
        mean = sum(row.decode_tokens / row.decode_s for row in rows) / len(rows)
        rate = StatedRate(value=mean * factor, scope="decode", statistic="mean")
        report = edit_arm(IMPORTED.replace(claims=()), "oracle", lambda arm: arm.replace(stated_rates=(rate,)))
        assert (not ask("CLAIM_NOT_REPRODUCIBLE", report)) is fits

    @pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (2.0, False)])
    def test_a_printed_rate_of_a_row_is_derived_too(self, factor, fits):
        row = CODE.arms[0].measurements[0]
        printed = row.decode_tokens / row.decode_s * factor
        report = set_first_row(IMPORTED.replace(claims=()), "oracle", stated_decode_tok_s=printed)
        assert (not ask("CLAIM_NOT_REPRODUCIBLE", report)) is fits


@pytest.mark.parametrize(
    ("rule_set", "lost", "severity"), [(RULE_SET, 0, None), (5, 6, "withheld"), (5, 2, ""), (5, 0, "")]
)
def test_what_luck_makes_of_recall_may_be_unsaid_only_of_old_and_where_it_says_nothing(rule_set, lost, severity):
    """An empty severity: nothing is found."""
    wrong = {"correct": False, "text": "the red barn"}
    report = measured_niah(Setup(samples=8, repeats=1))
    report = edit_rows(report, "identity", lambda row: row.replace(**wrong), where=lambda row: row.sample < lost)
    claims = tuple(
        one.replace(p_control=None, p_oracle=None) if one.name == "restoration_recall/identity" else one
        for one in propose(report)
    )
    report = report.replace(claims=claims, gate=GateBlock(rule_set=rule_set, verdict="admissible"))
    found = ask("CLAIM_NOT_REPRODUCIBLE", report)
    assert {finding.severity for finding in found} == (set() if severity == "" else {severity})
    if found:
        assert "claims.p_oracle" in {finding.field for finding in found}
