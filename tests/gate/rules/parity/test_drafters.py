from collections.abc import Callable

import pytest

from gate.judging.judge import conclude, judge
from gate.rules.parity.shown_parity import parity_key, parity_shown
from reports.records.drafter_parity import ParityBlock
from reports.records.measurement import DrafterInfo
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bases import parity
from tests.gate.cases.parity import disagree
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_code, measured_niah

DFLASH, NGRAM = "decode_speedup/fused_dflash", "decode_speedup/fused_ngram"


def code() -> Report:
    """A model drafter, with its parity in the report, and prompt lookup."""
    return measured_code(Setup(samples=3, repeats=1, max_new_tokens=20))


def drafter(report: Report, arm_name: str, /, **changes: object) -> Report:
    """An arm's drafter edited."""
    return edit_arm(
        report, arm_name, lambda arm: arm.replace(drafter=arm.drafter.replace(**changes) if arm.drafter else None)
    )


def blocks(edit: Callable[[tuple[ParityBlock, ...]], tuple[ParityBlock, ...]]) -> Report:
    """The parity of three samples, four blocks of seven tokens each, its blocks edited."""
    report = parity()
    assert report.parity is not None
    return report.replace(parity=report.parity.replace(blocks=edit(report.parity.blocks)))


def test_parity_in_the_report_itself_is_enough_for_the_same_weights() -> None:
    for claim in (DFLASH, "e2e_speedup/fused_dflash", "acceptance/fused_dflash"):
        assert not ask("PARITY_REQUIRED", code(), claim)
    assert ask("PARITY_REQUIRED", drafter(code(), "fused_dflash", weights="sha256:" + "0" * 64), DFLASH)


def test_parity_of_another_report_is_enough_if_it_passed() -> None:
    report = code()
    bare = report.replace(parity=None)
    assert ask("PARITY_REQUIRED", bare, DFLASH)
    assert not ask("PARITY_REQUIRED", bare, DFLASH, parity_shown(report))
    assert ask("PARITY_REQUIRED", bare, DFLASH, frozenset({parity_key("sha256:" + "0" * 64, "mlx")}))
    assert ask("PARITY_REQUIRED", disagree(report), DFLASH)


def test_parity_is_of_the_runtime_that_drafted() -> None:
    assert not ask("PARITY_REQUIRED", drafter(code(), "fused_dflash", runtime="torch"), DFLASH)
    for runtime in ("coreml", None):
        assert ask("PARITY_REQUIRED", drafter(code(), "fused_dflash", runtime=runtime), DFLASH)


def test_a_small_model_that_drafts_is_held_to_its_reference_instead() -> None:
    report = drafter(code(), "fused_dflash", name="model").replace(parity=None)
    assert ask("PARITY_REQUIRED", report, DFLASH)
    assert report.provenance is not None
    verifier = next(model for model in report.provenance.models if model.role == "verifier")

    def checked(**changes: object) -> Report:
        assert report.provenance is not None
        assert verifier.faithfulness is not None
        faithfulness = verifier.faithfulness.replace(**changes)
        models = tuple(
            model.replace(faithfulness=faithfulness) if model.role == "drafter" else model
            for model in report.provenance.models
        )
        return report.replace(provenance=report.provenance.replace(models=models))

    assert not ask("PARITY_REQUIRED", checked(), DFLASH)
    for changes in ({"tokens": 31}, {"argmax_agreement": 0.98}, {"largest_logit_gap": 14.7}):
        assert ask("PARITY_REQUIRED", checked(**changes), DFLASH)


def test_prompt_lookup_needs_none_unless_a_drafter_model_was_there() -> None:
    assert not ask("PARITY_REQUIRED", code(), NGRAM)
    disguised = drafter(code(), "fused_dflash", name="ngram", weights=None).replace(parity=None)
    assert ask("PARITY_REQUIRED", disguised, DFLASH)


def test_an_unknown_drafter_has_no_parity() -> None:
    report = edit_arm(code(), "fused_ngram", lambda arm: arm.replace(drafter=None))
    assert ask("PARITY_REQUIRED", report, NGRAM)
    named = edit_arm(code(), "fused_ngram", lambda arm: arm.replace(drafter=DrafterInfo(name="dflash")))
    assert ask("PARITY_REQUIRED", named, NGRAM)


def test_arms_without_a_drafter_are_not_asked() -> None:
    report = measured_niah(Setup(samples=2, repeats=1))
    assert not ask("PARITY_REQUIRED", report, "decode_speedup/identity")


def test_a_report_judged_later_beside_its_parity_is_not_called_forged() -> None:
    report = code()
    shown = parity_shown(report)
    alone = conclude(report.replace(parity=None))
    assert judge(alone).violations == ()
    assert judge(alone, parity=shown).violations == ()
    together = conclude(report.replace(parity=None), parity=shown)
    assert "CLAIM_NOT_REPRODUCIBLE" not in {violation.code for violation in judge(together).violations}


def test_one_token_is_enough_to_fail() -> None:
    assert not ask("PARITY_FAILED", parity())
    assert found("PARITY_FAILED", disagree(parity())) == ["1 of 84 tokens"]


def test_precision_is_no_excuse_that_a_file_can_prove() -> None:
    report = disagree(parity())
    assert report.parity is not None
    lower = report.parity.replace(candidate_dtype="bfloat16")
    assert ask("PARITY_FAILED", report.replace(parity=lower))


def test_a_runtime_compared_with_itself_shows_nothing() -> None:
    report = parity()
    assert report.parity is not None
    same = report.parity.replace(candidate_runtime=report.parity.reference_runtime)
    assert found("PARITY_FAILED", report.replace(parity=same)) == ["torch"]


def test_blocks_left_out_copied_cut_or_out_of_step_are_found() -> None:
    cut = (
        lambda all_: (*all_[:3], all_[3].replace(reference_tokens=(1, 2), candidate_tokens=(1, 2)), *all_[4:]),
        lambda all_: (*all_[:1], *all_[2:]),
        lambda all_: all_[:-1],
        lambda all_: all_[:8],
        lambda all_: (all_[0], *all_),
        lambda all_: (all_[0].replace(context_tokens=0), *all_[1:]),
        lambda all_: (all_[0].replace(context_tokens=10**6), *all_[1:]),
    )
    for edit in cut:
        assert ask("PARITY_FAILED", blocks(edit))


def test_one_block_under_many_numbers_is_one_block() -> None:
    copied = blocks(
        lambda all_: tuple(
            one.replace(reference_tokens=all_[0].reference_tokens, candidate_tokens=all_[0].candidate_tokens)
            for one in all_
        )
    )
    assert found("PARITY_FAILED", copied) == ["7"]


@pytest.mark.parametrize("kind", ["code", "niah"])
def test_reports_without_parity_are_not_asked(kind: str) -> None:
    report = code().replace(parity=None) if kind == "code" else measured_niah(Setup(samples=1, repeats=1))
    assert not ask("PARITY_FAILED", report)


def test_it_stands_in_the_way_of_its_own_drafter_only() -> None:
    report = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12))
    assert report.parity is not None
    broken = conclude(report.replace(parity=disagree(report).parity))
    blocked = {claim.name for claim in broken.claims if "PARITY_FAILED" in claim.withheld_by}
    assert {name for name in blocked if name.endswith("fused_ngram")} == {"arm_ratio/fused_dflash/fused_ngram"}
    assert {"acceptance/fused_dflash", "decode_speedup/fused_dflash", "drafter_parity/mlx"} <= blocked
