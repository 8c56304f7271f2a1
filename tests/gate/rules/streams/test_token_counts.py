import pytest

from reports.records.plan import StopRules
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import set_first_row, set_plan, set_rows
from tests.gate.honest import Setup, measured_code, measured_niah

CODE = measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))

NIAH = measured_niah(Setup(samples=2, repeats=1))

IMPORTED = CODE.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))


@pytest.mark.parametrize(("count", "ours", "theirs"), [(11, True, True), (12, False, True), (13, False, False)])
def test_decode_tokens_are_all_but_the_first(count, ours, theirs):
    assert bool(ask("TOKEN_ARITHMETIC", set_first_row(CODE, "oracle", decode_tokens=count))) is not ours
    assert bool(ask("TOKEN_ARITHMETIC", set_first_row(IMPORTED, "oracle", decode_tokens=count))) is not theirs


def test_a_stream_of_no_tokens_is_none():
    assert ask("TOKEN_ARITHMETIC", set_first_row(CODE, "oracle", token_ids=()))


@pytest.mark.parametrize(("budget", "field"), [(11, "token_ids"), (13, "stop_reason")])
def test_a_stream_that_ran_out_of_budget_has_its_length(budget, field):
    found = ask("TOKEN_ARITHMETIC", set_plan(CODE, max_new_tokens=budget))
    assert {finding.field for finding in found} == {field}


def test_where_nothing_stops_a_stream_it_ends_by_length():
    found = ask("TOKEN_ARITHMETIC", set_first_row(CODE, "oracle", stop_reason="turn_end"))
    assert [finding.field for finding in found] == ["stop_reason"]
    stops = set_plan(CODE, stop=StopRules(eos=True, ignore_turn_stop=False))
    assert not ask("TOKEN_ARITHMETIC", set_first_row(stops, "oracle", stop_reason="turn_end"))


def test_answers_that_end_by_themselves_are_shorter_than_the_budget():
    assert not ask("TOKEN_ARITHMETIC", NIAH)


def test_equal_tokens_spell_one_text():
    found = ask("TOKEN_ARITHMETIC", set_first_row(CODE, "fused_ngram", text="BETA-1409"))
    assert {finding.field for finding in found} == {"text"}


def test_a_text_without_tokens_is_not_compared():
    report = set_rows(CODE, "fused_ngram", text="BETA-1409", token_ids=None)
    assert not ask("TOKEN_ARITHMETIC", report)
