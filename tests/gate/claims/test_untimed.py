"""Parity and codec figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.claims import untimed
from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import MIN_PARITY_TOKENS
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult, SecondQuestion
from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.report import Report
from tests.gate.honest import Setup, measured_parity

WEIGHTS = "sha256:" + "a" * 64
tokens = st.lists(st.integers(0, 9), max_size=8).map(tuple)


def block(number: int, reference: tuple[int, ...], candidate: tuple[int, ...]) -> ParityBlock:
    """One compared block of sample 0."""
    return ParityBlock(
        sample=0, block=number, context_tokens=10, reference_tokens=reference, candidate_tokens=candidate
    )


def parity(*blocks: ParityBlock, candidate: str = "mlx") -> ParityResult:
    """A comparison of torch with `candidate`."""
    return ParityResult(drafter_weights=WEIGHTS, reference_runtime="torch", candidate_runtime=candidate, blocks=blocks)


@given(tokens, tokens)
def test_a_token_without_a_partner_disagrees(reference: tuple[int, ...], candidate: tuple[int, ...]) -> None:
    one = block(0, reference, candidate)
    assert 0 <= untimed.disagreements(one) <= untimed.compared(one)
    assert untimed.disagreements(one) >= abs(len(reference) - len(candidate))
    assert (untimed.disagreements(one) == 0) == (reference == candidate)


def test_agreement_counts_all_tokens() -> None:
    assert untimed.agreement(parity(block(0, (1, 2, 3), (1, 2, 4)), block(1, (1,), (1, 2)))) == pytest.approx(3 / 5)
    assert untimed.agreement(parity()) is None
    assert untimed.agreement(None) is None


def blocks(count: int, size: int = 8) -> tuple[ParityBlock, ...]:
    """Distinct blocks that agree."""
    tokens = [tuple(range(number, number + size)) for number in range(count)]
    return tuple(block(number, ids, ids) for number, ids in enumerate(tokens))


def holds(result: ParityResult) -> bool:
    """A parity report with this result shows something."""
    provenance = measured_parity(Setup(samples=1)).provenance
    return bool(untimed.parity_shown(Report(kind="parity", report_id="x", provenance=provenance, parity=result)))


def test_parity_holds_from_the_least_number_of_tokens_on() -> None:
    enough = MIN_PARITY_TOKENS.value // 8
    assert holds(parity(*blocks(enough)))
    assert not holds(parity(*blocks(enough - 1)))


def test_one_block_many_times_is_one_block() -> None:
    assert not holds(parity(*(blocks(1) * 40)))


def test_a_runtime_that_agrees_with_itself_shows_nothing() -> None:
    assert not holds(parity(*blocks(10), candidate="torch"))


def test_parity_is_shown_for_the_weights_and_runtimes_it_was_run_with() -> None:
    report = measured_parity(Setup(samples=3))
    assert report.parity is not None
    weights = report.parity.drafter_weights or ""
    assert untimed.parity_shown(report) == {untimed.parity_key(weights, name) for name in ("torch", "mlx")}
    assert untimed.parity_shown(report.replace(parity=report.parity.replace(drafter_weights=None))) == frozenset()
    assert untimed.parity_shown(report.replace(parity=parity(block(0, (1,), (2,)), *blocks(9)))) == frozenset()
    assert untimed.parity_shown(report.replace(parity=None)) == frozenset()


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
    assert untimed.worthwhile(view(REFERENCE, candidate), "e8") is verdict


def test_without_a_reference_or_figures_there_is_no_verdict() -> None:
    assert untimed.worthwhile(view(codec("e8", 4.5, 0.01)), "e8") is None
    bare = CodecArm(name="e8", codec="e8", samples=(CodecSample(sample=0),))
    assert untimed.worthwhile(view(REFERENCE, bare), "e8") is None
    assert untimed.worthwhile(view(REFERENCE), "nobody") is None


def test_printed_figures_stand_in_where_samples_lack_them() -> None:
    bare = CodecArm(name="e8", codec="e8", samples=(), stated_bits=6.4, stated_recall=1.0, stated_relative_error=0.0005)
    figures = untimed.codec_figures(bare)
    assert (figures.bits, figures.error, figures.recall) == (6.4, 0.0005, 1.0)
    assert untimed.worthwhile(view(REFERENCE, bare), "e8") is False


def test_a_codec_is_found_by_name_before_codec() -> None:
    renamed = codec("ours", 4.5, 0.01).replace(codec="affine4")
    result = KvQuantResult(arms=(renamed, REFERENCE))
    assert untimed.codec_arm(result, "affine4") is REFERENCE
    assert untimed.codec_arm(KvQuantResult(arms=(renamed,)), "affine4") is renamed
    assert untimed.codec_arm(None, "affine4") is None


def asked_again(arm: CodecArm, right: int) -> CodecArm:
    """The codec asked a second question, `right` answers of which are."""
    rows = tuple(
        row.replace(second=SecondQuestion(text="x", correct=number < right, token_ids=(1,)))
        for number, row in enumerate(arm.samples)
    )
    return arm.replace(samples=rows)


@pytest.mark.parametrize(("first", "second", "verdict"), [(2, 2, True), (2, 1, False), (1, 2, False), (2, 0, False)])
def test_recall_is_over_both_questions(first: int, second: int, verdict: bool) -> None:
    candidate = asked_again(codec("e8", 4.5, 0.006, right=first), second)
    assert untimed.worthwhile(view(asked_again(REFERENCE, 2), candidate), "e8") is verdict


def test_a_loss_in_one_question_may_be_made_up_in_the_other() -> None:
    reference = asked_again(codec("affine4", 4.5, 0.014, right=1), 2)
    assert untimed.worthwhile(view(reference, asked_again(codec("e8", 4.5, 0.006, right=2), 1)), "e8") is True


def test_where_one_codec_was_asked_once_the_first_question_decides() -> None:
    assert untimed.worthwhile(view(REFERENCE, asked_again(codec("e8", 4.5, 0.006), 0)), "e8") is True
