import pytest

from gate.figures.codecs import codec_arm, codec_figures, worthwhile
from gate.rulebook.report_view import ReportView
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult, SecondQuestion
from reports.report import Report


def codec(name: str, bits: float, error: float, right: int = 2) -> CodecArm:
    """A codec over two samples of 1,000 values."""
    samples = tuple(
        CodecSample(
            sample=sample,
            correct=sample < right,
            relative_error_k=error,
            relative_error_v=error,
            stored_bytes=round(bits * 1000 / 8),
            values=1000,
        )
        for sample in range(2)
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


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [
        (codec("e8", 4.504, 0.006), True),
        (codec("e8", 4.504, 0.014), False),
        (codec("e8", 4.512, 0.006), False),
        (codec("e8", 6.312, 0.0005), False),
        (codec("e8", 4.0, 0.006, right=1), False),
    ],
)
def test_a_codec_is_worthwhile_at_no_more_bits_less_error_and_no_less_recall(
    candidate: CodecArm, verdict: bool
) -> None:
    assert worthwhile(view(REFERENCE, candidate), "e8") is verdict


def test_without_a_reference_or_figures_there_is_no_verdict() -> None:
    assert worthwhile(view(codec("e8", 4.5, 0.01)), "e8") is None
    bare = CodecArm(name="e8", codec="e8", samples=(CodecSample(sample=0),))
    assert worthwhile(view(REFERENCE, bare), "e8") is None
    assert worthwhile(view(REFERENCE), "nobody") is None


def test_printed_figures_stand_in_where_samples_lack_them() -> None:
    bare = CodecArm(name="e8", codec="e8", samples=(), stated_bits=6.4, stated_recall=1.0, stated_relative_error=0.0005)
    figures = codec_figures(bare)
    assert (figures.bits, figures.error, figures.recall) == (6.4, 0.0005, 1.0)
    assert worthwhile(view(REFERENCE, bare), "e8") is False


def test_a_codec_is_found_by_name_before_codec() -> None:
    renamed = codec("ours", 4.5, 0.01).replace(codec="affine4")
    result = KvQuantResult(arms=(renamed, REFERENCE))
    assert codec_arm(result, "affine4") is REFERENCE
    assert codec_arm(KvQuantResult(arms=(renamed,)), "affine4") is renamed
    assert codec_arm(None, "affine4") is None


@pytest.mark.parametrize(("first", "second", "verdict"), [(2, 2, True), (2, 1, False), (1, 2, False), (2, 0, False)])
def test_recall_is_over_both_questions(first: int, second: int, verdict: bool) -> None:
    candidate = asked_again(codec("e8", 4.5, 0.006, right=first), second)
    assert worthwhile(view(asked_again(REFERENCE, 2), candidate), "e8") is verdict


def test_a_loss_in_one_question_may_be_made_up_in_the_other() -> None:
    reference = asked_again(codec("affine4", 4.5, 0.014, right=1), 2)
    assert worthwhile(view(reference, asked_again(codec("e8", 4.5, 0.006, right=2), 1)), "e8") is True


def test_where_one_codec_was_asked_once_the_first_question_decides() -> None:
    assert worthwhile(view(REFERENCE, asked_again(codec("e8", 4.5, 0.006), 0)), "e8") is True
