import json
from datetime import UTC, datetime

import pytest

from reports.reading.evidence import Invalid, NotAReport


def choice(**more):
    return {
        "index": 0,
        "turns": ["one", "two"],
        "decoding_steps": [2, 3],
        "new_tokens": [5, 4],
        "wall_time": [0.5, 0.25],
        "accept_lengths": [2, 3, 1, 1, 2],
        **more,
    }


def answer(question=81, model="vicuna-eagle", **more):
    return {
        "question_id": question,
        "category": "writing",
        "answer_id": "x",
        "model_id": model,
        "choices": [choice(**more)],
        "tstamp": 1_700_000_000.5,
    }


def test_every_turn_is_a_sample_of_one_arm(evidence, imported):
    lines = [answer(81), answer(82)]
    assert evidence(lines, lines=True).source == "spec-bench"
    report = imported(lines, lines=True)
    assert (report.kind, report.claims, report.created_at) == (
        "benchmark",
        (),
        datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
    )
    assert [(arm.name, arm.role) for arm in report.arms] == [("vicuna-eagle", "peer")]
    rows = report.arms[0].measurements
    assert [(row.sample, row.repeat, row.text) for row in rows] == [
        (0, 0, "one"),
        (1, 0, "two"),
        (2, 0, "one"),
        (3, 0, "two"),
    ]
    assert [(row.e2e_s, row.decode_tokens) for row in rows[:2]] == [(0.5, 5), (0.25, 4)]
    for row in rows:
        assert row.prefill_s is row.decode_s is row.prompt_tokens is row.token_ids is row.correct is None


def test_accept_lengths_are_cut_at_the_steps_of_a_turn(imported):
    first, second = (row.speculation for row in imported([answer()], lines=True).arms[0].measurements)
    assert (first.blocks, first.committed, first.mean_accept_len, first.accept_len_counts) == (2, 5, 2.5, "committed")
    assert (second.blocks, second.committed, second.accept_len_counts) == (3, 4, "committed")
    assert first.drafted is first.accepted is None


@pytest.mark.parametrize(
    ("change", "blocks"),
    [
        ({"decoding_steps": [1, 2]}, [2, 3]),
        ({"decoding_steps": None, "idxs": [2, 3]}, [2, 3]),
        ({"decoding_steps": [4, 3]}, [None, None]),
        ({"decoding_steps": None}, [None, None]),
        ({"accept_lengths": None}, [None, None]),
        ({"turns": ["one"], "decoding_steps": [9], "new_tokens": [9], "wall_time": [1.0]}, [5]),
    ],
)
def test_steps_that_do_not_fit_leave_the_blocks_unknown(imported, change, blocks):
    rows = imported([answer(**change)], lines=True).arms[0].measurements
    assert [row.speculation.blocks if row.speculation is not None else None for row in rows] == blocks


def test_lengths_that_are_not_the_tokens_have_no_meaning(imported):
    row = imported([answer(new_tokens=[6, 4])], lines=True).arms[0].measurements[0]
    assert row.speculation.accept_len_counts is None


@pytest.mark.parametrize(
    "line",
    [
        answer(),
        answer(new_tokens=[4, 3]),
        answer(new_tokens=[6, 5]),
        answer(new_tokens=[1, 1]),
        answer(new_tokens=[50, 40]),
        answer(accept_lengths=[1, 1, 1, 1, 1], new_tokens=[2, 3]),
        answer(accept_lengths=[0, 0, 0, 0, 0]),
        answer(accept_lengths=None),
        answer(turns=["one", "ERROR"], wall_time=[0.5, None]),
        answer(wall_time=[0.5, None]),
    ],
)
def test_an_honest_file_is_withheld_and_no_more(judged, line):
    assert judged([line, answer(82)], lines=True).verdict == "withheld"
    assert judged([line, line], lines=True).verdict == "withheld"


def test_one_token_a_step_is_no_speculation(imported):
    plain, drafting = answer(model="v", accept_lengths=[1] * 5, new_tokens=[2, 3]), answer(model="e")
    arms = {arm.name: arm for arm in imported([plain, drafting], lines=True).arms}
    assert arms["v"].drafter is None
    assert {row.speculation for row in arms["v"].measurements} == {None}
    assert arms["e"].drafter.name == "not recorded"


def test_a_turn_without_a_number_for_its_time_loses_that_figure_alone(evidence):
    lines = [json.dumps(answer()), json.dumps(answer(82, turns=["one", "ERROR"], wall_time=[0.5, float("nan")]))]
    report = evidence("\n".join(lines).encode()).outcome
    assert [row.e2e_s for row in report.arms[0].measurements] == [0.5, 0.25, 0.5, None]
    assert "line 2: NaN" in report.imported.notes[-1]


def test_a_failed_turn_keeps_no_figures_of_another(imported):
    report = imported([answer(turns=["one", "ERROR"])], lines=True)
    row = report.arms[0].measurements[1]
    assert row.text == "ERROR"
    assert row.e2e_s is row.decode_tokens is row.speculation is None
    assert any("1 turns failed" in note for note in report.imported.notes)


def test_methods_in_one_file_are_arms_over_the_same_samples(imported):
    report = imported([answer(81, "plain"), answer(82, "plain"), answer(82, "eagle"), answer(81, "eagle")], lines=True)
    assert {arm.name: [row.sample for row in arm.measurements] for arm in report.arms} == {
        "plain": [0, 1, 2, 3],
        "eagle": [2, 3, 0, 1],
    }


def test_a_single_answer_and_choices_are_read(imported):
    single = answer()
    single["choices"].append(choice(index=1))
    del single["question_id"], single["model_id"], single["tstamp"]
    report = imported(single)
    assert report.arms[0].name == "unnamed"
    assert [(row.sample, row.repeat) for row in report.arms[0].measurements] == [(0, 0), (1, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("damaged", "field"),
    [
        (answer(wall_time=[1.0]), "1.choices.0.wall_time: 1 values for 2 turns"),
        (answer(decoding_steps=[1]), "1.choices.0.decoding_steps"),
        (answer(new_tokens=[1.5, 2]), "1.choices.0.new_tokens.0"),
        (answer(wall_time=["1", 2]), "1.choices.0.wall_time.0"),
        ({"question_id": 3}, "1.choices"),
    ],
)
def test_a_damaged_line_is_named(evidence, damaged, field):
    outcome = evidence([answer(), damaged], lines=True).outcome
    assert isinstance(outcome, Invalid)
    assert field in outcome.message


def test_other_answer_files_are_not_evidence(evidence):
    lines = [{"question_id": 1, "choices": [{"turns": ["a"]}]}, {"question_id": 2, "choices": []}]
    assert evidence(lines, lines=True).outcome == NotAReport()


def test_a_time_that_is_no_date_is_no_date(imported):
    line = answer()
    line["tstamp"] = 1e300
    assert imported([line], lines=True).created_at is None
