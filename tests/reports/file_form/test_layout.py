import json

from hypothesis import given
from hypothesis import strategies as st

from reports.file_form.layout import laid_out
from reports.report import report_bytes
from tests.gate.honest import Setup, measured_code

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=40
)


@given(documents)
def test_it_is_the_same_json(document):
    assert json.loads(laid_out(document)) == document


def test_a_long_text_stays_one():
    assert json.loads(laid_out({"text": "x" * 500})) == {"text": "x" * 500}


def test_a_row_is_a_line():
    report = measured_code(Setup(samples=2, repeats=2))
    lines = report_bytes(report).decode().splitlines()
    rows = [line for line in lines if '"prefill_s"' in line]
    assert len(rows) == sum(len(arm.measurements) for arm in report.arms)
    for line in rows:
        row = json.loads(line.rstrip(","))
        assert row["prefill_s"] > 0
        for column in row["speculation"]["rounds"].values() if "speculation" in row else ():
            assert len(column) == row["speculation"]["blocks"]
    assert sum('"token_ids"' in line for line in lines) == 2 * len(report.arms)
    assert sum(line.startswith(' "') for line in lines) > 8
