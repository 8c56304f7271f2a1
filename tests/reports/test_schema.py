import copy
import json
from pathlib import Path

import jsonschema
import pytest

from reports.report import load_report, report_bytes
from reports.schema import SCHEMA_PATH, report_schema, schema_bytes

EVIDENCE = Path(__file__).parents[2] / "reports" / "evidence"
VALIDATOR = jsonschema.Draft202012Validator(report_schema())


@pytest.fixture
def document(imported, schema_2):
    """A full report as it stands in a file."""
    return json.loads(report_bytes(imported(schema_2)))


def test_the_committed_schema_is_the_one_the_records_export():
    assert SCHEMA_PATH.read_bytes() == schema_bytes(), "run: python -m reports.schema"


def test_the_schema_is_a_valid_draft_2020_12_schema():
    jsonschema.Draft202012Validator.check_schema(report_schema())


def test_a_report_as_written_is_accepted(document):
    VALIDATOR.validate(document)


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("*.json")), ids=lambda path: path.name)
def test_the_evidence_is_as_reports_are_written_and_accepted_from_outside(path):
    assert report_bytes(load_report(path)) == path.read_bytes()
    VALIDATOR.validate(json.loads(path.read_text()))


def _damage(document):
    arm = document["arms"][0]
    row = arm["measurements"][0]
    yield document, "schema_version", ...
    yield document, "schema_version", 3
    yield document, "schema_version", "2"
    yield document, "kind", "nihah"
    yield document, "report_id", ...
    yield document, "surprise", 1
    yield arm, "role", "winner"
    yield arm, "measurements", {}
    yield row, "sample", "0"
    yield row, "sample", True
    yield row, "sample", -1
    yield row, "prefill_s", "1"
    yield row, "blocks", 3
    yield document["claims"][0], "metric", "vibes"
    yield document["claims"][0], "status", "true"
    yield document["imported"], "original_digest", "sha256:0"


def test_a_report_with_a_fault_is_refused(document):
    count = len(list(_damage(document)))
    for index in range(count):
        damaged = copy.deepcopy(document)
        holder, name, value = list(_damage(damaged))[index]
        if value is ...:
            del holder[name]
        else:
            holder[name] = value
        assert not VALIDATOR.is_valid(damaged), (name, value)
