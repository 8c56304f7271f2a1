import math
import random

import pytest
from scipy.stats import ttest_1samp

from gate.figures.codecs import codec_arm, codec_comparison, codec_figures
from gate.rulebook.report_view import ReportView
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult, SecondQuestion
from reports.report import Report


def codec(name: str, bits: float, error: float, right: int = 10, spread: float = 0.05) -> CodecArm:
    """A codec over ten samples of 1,000 values, whose errors scatter by `spread` from prompt to prompt."""
    draw = random.Random(name)
    samples = tuple(
        CodecSample(
            sample=sample,
            correct=sample < right,
            relative_error_k=(own := error * draw.lognormvariate(0, spread)),
            relative_error_v=own,
            stored_bytes=round(bits * 1000 / 8),
            values=1000,
        )
        for sample in range(10)
    )
    return CodecArm(name=name, codec=name, samples=samples)


def view(*arms: CodecArm) -> ReportView:
    """A report of these codecs."""
    return ReportView(Report(kind="kv_quant", report_id="x", kv_quant=KvQuantResult(arms=arms)))


REFERENCE = codec("affine4", 4.504, 0.014)


def asked_again(arm: CodecArm, right: int) -> CodecArm:
    """The codec asked a second question, `right` answers of which are."""
    rows = tuple(
        row.replace(second=SecondQuestion(text="x", correct=number < right, token_ids=(1,)))
        for number, row in enumerate(arm.samples)
    )
    return arm.replace(samples=rows)


def verdict(*arms: CodecArm, name: str = "e8") -> str | None:
    found = codec_comparison(view(*arms), name)
    return found.verdict if found is not None else None


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (codec("e8", 4.504, 0.006), "better"),
        (codec("e8", 4.504, 0.014), "undecided"),
        (codec("e8", 4.504, 0.016), "worse"),
        (codec("e8", 4.504, 0.013, spread=0.5), "undecided"),
        (codec("e8", 4.512, 0.006), "worse"),
        (codec("e8", 6.312, 0.0005), "worse"),
        (codec("e8", 4.0, 0.006, right=9), "undecided"),
        (codec("e8", 4.0, 0.006, right=3), "worse"),
    ],
)
def test_a_codec_is_better_at_no_more_bits_less_error_and_no_answer_lost(candidate: CodecArm, expected: str) -> None:
    assert verdict(REFERENCE, candidate) == expected


def test_fewer_than_ten_prompts_decide_nothing_but_bits() -> None:
    few = codec("e8", 4.504, 0.006)
    assert verdict(REFERENCE, few.replace(samples=few.samples[:9])) == "undecided"
    large = codec("e8", 6.3, 0.006)
    assert verdict(REFERENCE, large.replace(samples=large.samples[:9])) == "worse"


def test_what_is_told_apart_alone_may_not_be_among_many() -> None:
    """Holm: each further codec asks more of all of them."""
    candidate = codec("e8", 4.504, 0.0136, spread=0.03)
    alone = codec_comparison(view(REFERENCE, candidate), "e8")
    many = [codec(f"equal{number}", 4.504, 0.014) for number in range(14)]
    among = codec_comparison(view(REFERENCE, candidate, *many), "e8")
    assert alone is not None
    assert among is not None
    assert alone.error == among.error
    assert (alone.p or 0.0) < (among.p or 0.0)


def test_the_ratio_is_the_paired_geometric_mean_and_its_interval_scipys() -> None:
    candidate = codec("e8", 4.504, 0.006)
    found = codec_comparison(view(REFERENCE, candidate), "e8")
    assert found is not None
    assert found.error is not None
    logs = [
        math.log((a.relative_error_k or 0.0) / (b.relative_error_k or 1.0))
        for a, b in zip(candidate.samples, REFERENCE.samples, strict=True)
    ]
    expected = ttest_1samp(logs, 0.0)
    low, high = expected.confidence_interval(0.95)
    assert found.error.value == pytest.approx(math.exp(sum(logs) / len(logs)))
    assert (found.error.low, found.error.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert found.p == pytest.approx(expected.pvalue)


def test_without_a_reference_or_figures_there_is_no_verdict() -> None:
    assert verdict(codec("e8", 4.5, 0.01)) is None
    bare = CodecArm(name="e8", codec="e8", samples=(CodecSample(sample=0),))
    assert verdict(REFERENCE, bare) is None
    assert verdict(REFERENCE, name="nobody") is None


def test_printed_figures_stand_in_where_samples_lack_them() -> None:
    bare = CodecArm(name="e8", codec="e8", samples=(), stated_bits=6.4, stated_recall=1.0, stated_relative_error=0.0005)
    figures = codec_figures(bare)
    assert (figures.bits, figures.error, figures.recall) == (6.4, 0.0005, 1.0)
    assert verdict(REFERENCE, bare) == "worse"
    assert verdict(REFERENCE, bare.replace(stated_bits=4.0)) == "undecided"


def test_a_codec_is_found_by_name_before_codec() -> None:
    renamed = codec("ours", 4.5, 0.01).replace(codec="affine4")
    result = KvQuantResult(arms=(renamed, REFERENCE))
    assert codec_arm(result, "affine4") is REFERENCE
    assert codec_arm(KvQuantResult(arms=(renamed,)), "affine4") is renamed
    assert codec_arm(None, "affine4") is None


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(10, 10, "better"), (10, 9, "undecided"), (10, 0, "worse"), (3, 10, "worse")]
)
def test_recall_is_over_both_questions(first: int, second: int, expected: str) -> None:
    candidate = asked_again(codec("e8", 4.5, 0.006, right=first), second)
    assert verdict(asked_again(REFERENCE, 10), candidate) == expected


def test_a_loss_in_one_question_may_be_made_up_in_the_other() -> None:
    reference = asked_again(codec("affine4", 4.5, 0.014, right=9), 10)
    assert verdict(reference, asked_again(codec("e8", 4.5, 0.006), 9)) == "better"


def test_where_one_codec_was_asked_once_the_first_question_decides() -> None:
    assert verdict(REFERENCE, asked_again(codec("e8", 4.5, 0.006), 0)) == "better"
