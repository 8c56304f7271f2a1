"""A report is what it says was run and measured: no layout, form, date or judgement makes it another one."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.judging.judge import conclude
from reports.content_digest import content_digest, values_digest
from reports.reading.reader import evidence_of
from reports.report import Imported, Report, report_bytes
from tests.gate.edits import document, set_first_row, set_plan
from tests.gate.honest import Setup, measured_code, measured_kv_quant, measured_niah, measured_parity

SMALL = Setup(samples=2, repeats=1)
REPORTS = [build(SMALL) for build in (measured_niah, measured_code, measured_parity, measured_kv_quant)]


def read(data: bytes) -> str | None:
    return evidence_of(data, Path("x.json")).digest


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind)
def test_no_layout_or_form_makes_another_report(report: Report) -> None:
    old = document(report)
    new = json.loads(report_bytes(report))
    files = [json.dumps(made, indent=indent).encode() for made in (old, new) for indent in (None, 4)]
    shuffled = json.dumps(dict(reversed(list(old.items())))).encode()
    nulls = json.dumps(report.model_dump(mode="json")).encode()
    assert {read(data) for data in (*files, shuffled, nulls, report_bytes(report))} == {content_digest(report)}


def test_no_name_date_or_judgement_makes_another_report() -> None:
    report = REPORTS[0]
    copies = (
        conclude(report),
        report.replace(report_id="another"),
        report.replace(created_at=datetime(2030, 1, 1, tzinfo=UTC)),
        report.replace(created_at=None),
    )
    assert {content_digest(copy) for copy in copies} == {content_digest(report)}


def test_one_figure_makes_another_report() -> None:
    report = REPORTS[1]
    row = report.arms[0].measurements[0]
    assert row.decode_s is not None
    others = (
        set_first_row(report, "oracle", decode_s=row.decode_s + 1e-9),
        set_first_row(report, "oracle", text="x"),
        set_plan(report, samples=3),
        report.replace(preset=None),
        report.replace(kind="niah"),
        measured_code(Setup(samples=2, repeats=1, seed=1)),
    )
    assert len({content_digest(other) for other in (report, *others)}) == 1 + len(others)


def test_two_layouts_of_a_foreign_file_become_one_report() -> None:
    rows = [{"build_commit": "abc", "model_filename": "m.gguf", "n_prompt": 0, "n_gen": 8, "avg_ts": 5.0}]
    assert values_digest(rows) == values_digest(json.loads(json.dumps(rows, indent=8, sort_keys=True)))
    imported = Imported(importer="llama-bench", original_digest=values_digest(rows), file_digest="sha256:" + "1" * 64)
    first = REPORTS[0].replace(imported=imported)
    second = first.replace(imported=imported.replace(file_digest="sha256:" + "2" * 64))
    assert content_digest(first) == content_digest(second)
    assert content_digest(first) != content_digest(REPORTS[0])


def test_what_is_no_report_is_known_by_its_bytes() -> None:
    first, second = (evidence_of(data, Path("x.json")) for data in (b'{"a": 1}', b'{"a":1}'))
    assert first.digest == first.file_digest != second.digest


@given(st.text() | st.floats(allow_nan=False) | st.integers() | st.lists(st.integers()))
def test_a_digest_is_the_same_every_time(value: object) -> None:
    assert values_digest({"a": value, "b": 1}) == values_digest({"b": 1, "a": value})


def test_a_digest_is_held_to_a_known_one() -> None:
    """It stands in retractions and in prose: it must be the same in years."""
    report = Report(kind="niah", report_id="x", created_at=datetime(2030, 1, 1, tzinfo=UTC))
    assert content_digest(report) == values_digest({"kind": "niah"})
    assert values_digest({"kind": "niah"}) == "sha256:cdf78294ed213b650d5b542b35cc04a268796f90ae88d6dc9eac5e3851ccdca3"
