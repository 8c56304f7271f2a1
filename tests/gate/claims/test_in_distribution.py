"""Whether weights were trained on text like the prompts', told in the claim and in the headline's words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.claims.in_distribution import in_distribution, kind_of_text
from gate.claims.propose import propose
from gate.judging.judge import judge
from gate.render.headline import headline_line
from gate.rulebook.report_view import ReportView
from reports.report import Report, load_report
from tests.gate.asking import ask, named
from tests.gate.cases.bases import code_of_five, dflash, f_theta, judged
from tests.gate.edits import knowing_text, set_claim
from tests.gate.honest import Setup, measured_code

EVIDENCE = Path(__file__).resolve().parents[3] / "reports" / "evidence"
ACCEPTANCE = "acceptance/fused_dflash"
name = st.builds("{}/{}".format, st.sampled_from(["synthetic", "stdlib", "own"]), st.sampled_from("abc"))


def drafted(groups: tuple[str, ...], trained_on: tuple[str, ...] | None) -> Report:
    """Five prompts, a model drafter."""
    return knowing_text(dflash(), groups, {} if trained_on is None else {"drafter": trained_on})


def said(report: Report, claim: str = ACCEPTANCE) -> tuple[str | None, str | None]:
    view = ReportView(report)
    return in_distribution(view, named(report, claim)), kind_of_text(view, named(report, claim))


@pytest.mark.parametrize(
    ("groups", "trained_on", "expected", "words"),
    [
        (("synthetic/a",), ("synthetic/a",), "yes", "on text of the kind its drafter was trained on"),
        (("stdlib/x", "synthetic/a"), ("synthetic/a",), "yes", "on text of the kind its drafter was trained on"),
        (("stdlib/x",), ("synthetic/a",), "no", "on kinds of text its drafter never saw"),
        (
            ("stdlib/x",),
            ("stdlib/y",),
            "kind",
            "on documents its drafter never saw, of a kind it was trained on",
        ),
        (("stdlib/x",), None, "unknown", "and whether its drafter was trained on such text is not known"),
        (("own/x",), ("synthetic/a",), "unknown", "and whether its drafter was trained on such text is not known"),
        (("own/x",), ("own/x",), "yes", "on text of the kind its drafter was trained on"),
    ],
)
def test_what_is_said_of_the_text(
    groups: tuple[str, ...], trained_on: tuple[str, ...] | None, expected: str, words: str
) -> None:
    assert said(drafted(groups, trained_on)) == (expected, words)


def test_reports_from_before_prompts_knew_their_group_are_not_recorded() -> None:
    assert said(dflash()) == (None, "and whether its drafter was trained on such text is not recorded")


def test_text_is_nothing_to_what_rests_on_no_trained_weights() -> None:
    lookup = knowing_text(code_of_five(), ("stdlib/x",), {})
    for claim in propose(lookup):
        assert (claim.in_distribution, kind_of_text(ReportView(lookup), claim)) == (None, None)
    mixed = drafted(("stdlib/x",), ("synthetic/a",))
    told = {claim.metric for claim in propose(mixed) if claim.in_distribution}
    assert told == {"acceptance", "decode_speedup", "e2e_speedup"}


def test_recall_rests_on_the_f_theta() -> None:
    report = knowing_text(f_theta(), ("stdlib/x",), {"f_theta": ("synthetic/notes",)})
    assert said(report, "restoration_recall/f_theta") == ("no", "on kinds of text its f_theta never saw")
    assert said(report, "kv_saving/f_theta") == (None, None)


def test_a_ratio_of_two_arms_rests_on_the_weights_of_both() -> None:
    report = knowing_text(measured_code(Setup(samples=6)), ("stdlib/x",), {"drafter": ("stdlib/y",)})
    ranked = [claim for claim in propose(report) if claim.metric == "arm_ratio"]
    assert ranked
    for claim in ranked:
        told = "on documents the drafter of fused_dflash never saw, of a kind it was trained on"
        assert said(report, claim.name) == ("kind", told)


def test_what_is_unknown_of_a_recipe_is_not_taken_for_unseen() -> None:
    report = drafted(("stdlib/x",), ("synthetic/a",))
    assert report.provenance is not None
    models = tuple(
        one.replace(recipe=one.recipe.replace(unknown=("its beginning",))) if one.recipe else one
        for one in report.provenance.models
    )
    assert said(report.replace(provenance=report.provenance.replace(models=models)))[0] == "unknown"


@given(st.lists(name, min_size=1, max_size=3).map(tuple), st.lists(name, max_size=4).map(tuple))
def test_a_shared_group_is_never_said_to_be_unseen(groups: tuple[str, ...], trained_on: tuple[str, ...]) -> None:
    found = said(drafted(groups, trained_on))[0]
    assert (found == "yes") == bool(set(groups) & set(trained_on))
    if found == "no":
        assert {one.partition("/")[0] for one in groups}.isdisjoint(one.partition("/")[0] for one in trained_on)


def test_an_admitted_claim_says_it_and_a_hidden_overlap_is_refused() -> None:
    report = judged(drafted(("own/a",), ("own/a",)), ACCEPTANCE)
    (headline,) = (one for one in judge(report).headlines if one.claim.name == ACCEPTANCE)
    assert headline_line(headline).endswith(", on text of the kind its drafter was trained on")
    for hidden in (None, "no", "kind", "unknown"):
        forged = set_claim(report, ACCEPTANCE, in_distribution=hidden)
        judgement = judge(forged)
        assert judgement.verdict == "invalid"
        assert [one.code for one in judgement.violations] == ["TRAIN_TEST_OVERLAP"]


def test_groups_or_recipes_edited_away_leave_a_claim_that_says_too_much() -> None:
    report = judged(drafted(("synthetic/a",), ("synthetic/a",)), ACCEPTANCE)
    assert ask("TRAIN_TEST_OVERLAP", knowing_text(report, ("stdlib/x",), {"drafter": ("synthetic/a",)}), ACCEPTANCE)
    assert ask("TRAIN_TEST_OVERLAP", knowing_text(report, ("synthetic/a",), {}), ACCEPTANCE)


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("*.json")), ids=lambda path: path.stem)
def test_committed_evidence_says_of_it_what_its_rows_give(path: Path) -> None:
    report = load_report(path)
    view = ReportView(report)
    for claim in report.claims:
        assert getattr(claim, "in_distribution", None) == in_distribution(view, claim), claim.name
    assert "TRAIN_TEST_OVERLAP" not in {one.code for one in judge(report).violations}
