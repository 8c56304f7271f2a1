import pytest

from gate.judging.judge import conclude
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bases import long_streams
from tests.gate.cases.streams import same_stream
from tests.gate.edits import edit_rows, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

IDENTITY, ACCEPTANCE = "token_identity/fused_ngram", "acceptance/fused_ngram"


def code(samples: int) -> Report:
    return measured_code(Setup(samples=samples, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


def test_two_prompts_with_one_long_stream_are_one():
    report = long_streams()
    assert not ask("STREAM_REPEATED", report)
    assert {finding.sample for finding in ask("STREAM_REPEATED", same_stream(report))} == {1}


def test_short_answers_may_be_equal():
    first = NIAH.arms[0].measurements[0]
    assert not ask("STREAM_REPEATED", set_rows(NIAH, "oracle", token_ids=first.token_ids, text=first.text))


@pytest.mark.parametrize("claim", [IDENTITY, ACCEPTANCE])
def test_five_prompts_are_needed(claim: str) -> None:
    assert not ask("STREAM_SAMPLES", code(5), claim)
    assert found("STREAM_SAMPLES", code(4), claim) == ["4"]


@pytest.mark.parametrize(("length", "fires"), [(6, True), (7, False)])
def test_thirty_two_tokens_are_needed(length: int, fires: bool) -> None:
    short = edit_rows(code(5), "fused_ngram", lambda row: row.replace(token_ids=(row.token_ids or ())[:length]))
    assert bool(ask("STREAM_SAMPLES", short, IDENTITY)) is fires


def test_repeats_and_copies_of_a_prompt_count_once() -> None:
    repeated = measured_code(Setup(samples=2, repeats=3, max_new_tokens=40, draft_arms=("ngram",)))
    assert found("STREAM_SAMPLES", repeated, IDENTITY) == ["2"]
    one = "sha256:" + "0" * 64
    copied = edit_rows(code(5), "fused_ngram", lambda row: row.replace(prompt_digest=one))
    assert found("STREAM_SAMPLES", copied, IDENTITY) == ["1"]


def test_a_single_stream_is_no_headline() -> None:
    report = conclude(measured_niah(Setup(samples=1, repeats=1)))
    claim = next(one for one in report.claims if one.metric == "token_identity")
    assert claim.status == "withheld"
    assert "STREAM_SAMPLES" in claim.withheld_by
