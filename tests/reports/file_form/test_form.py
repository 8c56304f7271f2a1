import json
import re
from pathlib import Path

import jsonschema
import pytest

from reports.file_form.form import COLUMNS, from_file_form, to_file_form
from reports.reading.evidence import Invalid
from reports.reading.reader import evidence_of
from reports.records.codec_rows import ArmSample, PausedSample
from reports.records.measurement import Pause, PausedRow
from reports.report import ReportError, parse_report, report_bytes
from reports.schema import report_schema
from tests.gate.edits import document
from tests.gate.honest import Setup, measured_code, measured_kv_quant, measured_niah, measured_parity
from tests.gate.honest.replay import measured_replay

PAUSE = Pause(asleep_s=30.0, stops=0)


def with_rows_apart(report):
    """The report of a run in which every arm was warmed up and had a pause, or every sample of a codec run."""
    arms = tuple(
        arm.replace(
            paused=(PausedRow(row=arm.measurements[0], pause=PAUSE),),
            warm_ups=(arm.measurements[0].replace(order=None, decode_s=9.0),),
        )
        for arm in report.arms
    )
    result = report.kv_quant
    if result is not None:
        codecs = tuple(ArmSample(arm=arm.name, row=arm.samples[0]) for arm in result.arms)
        result = result.replace(paused=(PausedSample(oracle=result.oracle[0], codecs=codecs, pause=PAUSE),))
    return report.replace(arms=arms, kv_quant=result)


PLAIN = [
    build(Setup(samples=2, repeats=2, suts=("identity",)))
    for build in (measured_niah, measured_code, measured_parity, measured_kv_quant)
]
REPLAYS = [measured_replay(report) for report in (PLAIN[1], PLAIN[3])]
REPORTS = [*PLAIN, with_rows_apart(PLAIN[1]), with_rows_apart(PLAIN[3]), *REPLAYS]


def written(report):
    return json.loads(report_bytes(report))


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind)
def test_records_come_back(report):
    assert parse_report(report_bytes(report), Path("x.json")) == report
    made = to_file_form(document(report))
    assert from_file_form(made) or report.kind in ("parity", "replay")
    assert made == document(report)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind)
def test_what_is_written_fits_the_schema(report):
    assert list(jsonschema.Draft202012Validator(report_schema()).iter_errors(written(report))) == []


def test_rows_that_do_not_count_name_the_streams_of_those_that_do():
    arm = written(REPORTS[4])["arms"][0]
    assert arm["paused"][0]["row"]["stream"] == arm["measurements"][0]["stream"]
    assert arm["warm_ups"][0]["stream"] == arm["measurements"][0]["stream"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind)
def test_a_file_of_old_is_read(report):
    old = json.dumps(document(report), indent=1).encode()
    assert parse_report(old, Path("x.json")) == report
    assert evidence_of(b"\xef\xbb\xbf" + old, Path("x.json")).outcome == report
    assert not from_file_form(document(report))


def test_every_place_of_columns_is_used():
    for place in COLUMNS:
        assert any(_at(written(report), place.split(".")) for report in REPORTS), place


def _at(node, path):
    """Some value at the path is an object of lists."""
    if not path:
        return isinstance(node, dict) and all(isinstance(column, list) for column in node.values())
    if path[0] == "*":
        return any(_at(item, path[1:]) for item in node)
    return path[0] in node and _at(node[path[0]], path[1:])


def test_half_a_file_in_the_old_form_is_read():
    report = REPORTS[1]
    made = written(report)
    made["arms"][0] = document(report)["arms"][0]
    made["plan"] = document(report)["plan"]
    assert parse_report(json.dumps(made).encode(), Path("x.json")) == report


def test_a_fault_of_form_names_file_and_field():
    made = written(REPORTS[1])
    rounds = made["arms"][2]["measurements"][0]["speculation"]["rounds"]
    rounds["draft_us"] = rounds["draft_us"][:-1]
    data = json.dumps(made).encode()
    field = "arms.2.measurements.0.speculation.rounds: its columns are not of one length"
    with pytest.raises(ReportError, match=field) as caught:
        parse_report(data, Path("x.json"))
    assert str(caught.value).startswith("x.json: ")
    outcome = evidence_of(data, Path("x.json")).outcome
    assert isinstance(outcome, Invalid)
    assert field in outcome.message


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("plan", "order"), {"arm": 7, "sample": 7, "repeat": 7}, "plan.order"),
        (("plan", "order"), {}, "plan.order"),
        (("plan",), [], "plan"),
        (("arms",), {"*": {"measurements": []}}, "arms"),
        (("arms",), [7], "arms.0"),
        (("arms",), [{"streams": [], "measurements": [7]}], "arms.0"),
        (("memory",), {"arms": [{"layers": {"layer": [0]}}]}, "memory.arms.0.layers"),
    ],
)
def test_nonsense_is_refused_with_its_place(place, value, told):
    made = written(REPORTS[0])
    holder = made
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    outcome = evidence_of(json.dumps(made).encode(), Path("x.json")).outcome
    assert isinstance(outcome, Invalid)
    assert outcome.message.startswith(told)


def test_a_number_beyond_every_float_is_refused_where_it_stands():
    rounds = b'"rounds": {"drafted": [1,2],"accepted": [0,1],"committed": [1,2],"draft_s": [1e999,0.5]'
    data = re.sub(rb'"rounds": \{.*?"draft_us": \[[^]]*\]', rounds, report_bytes(REPORTS[1]), count=1)
    assert json.loads(data)
    outcome = evidence_of(data, Path("x.json")).outcome
    assert isinstance(outcome, Invalid)
    assert "speculation.rounds" in outcome.message
