from gate.claims.against_baseline import compared_arms
from gate.claims.propose import propose
from gate.rulebook.report_view import ReportView
from tests.gate.honest import Setup, measured_code


def test_sides_are_two_arms_of_the_report() -> None:
    report = measured_code(Setup(samples=1, repeats=1))
    view = ReportView(report)
    claim = next(claim for claim in propose(report) if claim.name == "decode_speedup/fused_ngram")
    both = compared_arms(view, claim)
    assert both is not None
    assert [arm.name for arm in both] == ["fused_ngram", "oracle"]
    for changes in ({"baseline": None}, {"baseline": "nobody"}, {"baseline": "fused_ngram"}, {"arm": "nobody"}):
        assert compared_arms(view, claim.replace(**changes)) is None
