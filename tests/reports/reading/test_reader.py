import copy
import gzip
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.importers.registry import IMPORTERS
from reports.journal import Begun, End, encode
from reports.reading.evidence import Invalid, Legacy, NotAReport, Unreadable
from reports.reading.reader import evidence_of, import_report, read_evidence
from reports.records.measurement import Arm, Measurement
from reports.report import Report, ReportError, report_bytes
from reports.untrusted.files import find_files

ROW = Measurement(sample=0, repeat=0, prefill_s=0.25, decode_s=1.5, token_ids=(1, 2))
OWN = Report(
    kind="niah", report_id="own-1", arms=(Arm(name="oracle", role="oracle", engine="ar", measurements=(ROW,)),)
)


def own(**changes):
    document = json.loads(report_bytes(OWN)) | changes
    return {name: value for name, value in document.items() if value is not ...}


def message(evidence):
    assert isinstance(evidence.outcome, Invalid), evidence.outcome
    assert evidence.outcome.message.isprintable()
    return evidence.outcome.message


def test_our_own_report_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(report_bytes(OWN))
    found = read_evidence(path)
    assert found.outcome == OWN
    assert (found.path, found.source, found.kind, found.schema_version) == (path, "k3", "niah", 2)
    assert found.digest.startswith("sha256:")
    assert evidence_of(b"\xef\xbb\xbf" + report_bytes(OWN), path).outcome == OWN


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schema_version": "2"}, "schema_version"),
        ({"schema_version": True}, "schema_version"),
        ({"schema_version": 2.0}, "schema_version"),
        ({"schema_version": None}, "schema_version"),
        ({"schema_version": ...}, "schema_version"),
        ({"schema_version": [2]}, "schema_version"),
        ({"schema_version": 10**30}, "schema_version"),
        ({"kind": "nihah"}, "kind: 'nihah' is unknown; did you mean 'niah'"),
        ({"kind": "weather"}, "kind: 'weather' is unknown; known kinds"),
        ({"kind": 7}, "kind"),
        ({"kind": ...}, "kind: missing"),
        ({"kind": "chat"}, "kind: chat is never run by K3"),
        ({"report_id": ...}, "report_id"),
        ({"report_id": "../x"}, "report_id"),
        ({"comment": 1}, "comment"),
        ({"line\nbreak": 1}, "line\\nbreak"),
        ({"arms": {}}, "arms"),
        ({"created_at": "2025-01-01T00:00:00"}, "created_at"),
    ],
)
def test_a_report_that_does_not_hold_names_the_field(evidence, changes, field):
    assert field in message(evidence(own(**changes)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prefill_s", "0.25"),
        ("prefill_s", True),
        ("correct", 1),
        ("sample", False),
        ("sample", -1),
        ("sample", 2**53 + 1),
        ("prompt_digest", "md5:0"),
    ],
)
def test_a_row_with_a_value_of_the_wrong_kind_names_it(evidence, name, value):
    document = own()
    document["arms"][0]["measurements"][0][name] = value
    assert f"arms.0.measurements.0.{name}" in message(evidence(document))


def test_a_number_too_large_for_a_float_is_no_infinity(evidence):
    data = report_bytes(OWN).replace(b"0.25", b"1e999")
    assert "arms.0.measurements.0.prefill_s" in message(evidence(data))


def test_nan_and_duplicate_keys_are_refused_before_anything_else(evidence):
    for data in (
        report_bytes(OWN).replace(b"0.25", b"NaN"),
        report_bytes(OWN).replace(b'"kind"', b'"kind": "niah", "kind"'),
    ):
        outcome = evidence(data).outcome
        assert isinstance(outcome, Unreadable)
        assert not outcome.could_not_open


def test_a_newer_schema_says_upgrade(evidence):
    found = evidence(own(schema_version=3))
    assert "newer schema 3; upgrade K3" in message(found)
    assert found.schema_version == 3


def test_an_older_schema_of_our_own_kinds_is_legacy(evidence):
    assert evidence(own(schema_version=1)).outcome == Legacy(None)


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        7,
        "arms",
        [1, {"a": 2}],
        {"name": "left-pad", "version": "1.0.0", "dependencies": {}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Report", "properties": {"arms": {}}},
        {"kind": "Deployment", "apiVersion": "apps/v1", "spec": {}},
        {"runs": [], "config": {}},
        {"choices": [{"message": {"content": "hello"}}], "model": "x"},
    ],
)
def test_json_that_is_no_report_is_not_evidence(evidence, document):
    found = evidence(document)
    assert found.outcome == NotAReport()
    assert found.source is None


@pytest.mark.parametrize(
    "document",
    [
        {"schema_version": 2, "kind": "niah"},
        {"schemaVersion": 2, "Claims": []},
        {"arms": [], "gate": {}},
        {"report_id": "x", "claims": []},
        {"Report-ID": "x", "arms": {}},
        {"kind": "k3_integrated_niah_acceptance_mc", "results": {}},
        {"kind": "k3_kv_quant_evl"},
    ],
)
def test_what_looks_like_a_report_is_never_passed_over(evidence, document):
    assert message(evidence(document))


@pytest.mark.parametrize(
    "document",
    [
        {"schema_version": 2},
        {"schema_version": "1", "results": []},
        {"claims": {}},
        {"arms": []},
        {"Gate": {}},
        {"kind": "niah"},
        {"kind": "benchmark", "name": "x"},
        {"throughput": 42.5},
    ],
)
def test_one_key_of_ours_makes_no_report(evidence, document):
    assert isinstance(evidence(document).outcome, NotAReport)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_no_number_makes_a_report_unreadable_and_another_tools_file_no_report(evidence, value):
    assert isinstance(evidence(f'{{"request_rate": {value}, "output_throughput": 470.7}}'.encode()).outcome, NotAReport)
    damaged = evidence(report_bytes(OWN).replace(b"0.25", value.encode())).outcome
    assert damaged == Unreadable(f"{value} is not a JSON number", could_not_open=False)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"device 0: x\ndevice 1: y\n[{}]\n", "text before the JSON, which begins in line 3"),
        ("\ufeff[]".encode("utf-16-le"), "UTF-16"),
        ("[]".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"[]", mtime=0), "gzip"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(evidence, data, told):
    outcome = evidence(data).outcome
    assert isinstance(outcome, Unreadable)
    assert told in outcome.message


def test_reports_do_not_travel_in_bundles(evidence):
    assert "several documents" in message(evidence([own(), own()]))
    assert "several documents" in message(evidence([own(), own()], lines=True))
    assert evidence([{"a": 1}, {"b": 2}], lines=True).outcome == NotAReport()


def test_an_imported_report_keeps_its_importer_and_reads_back_the_same(imported, evidence, schema_2):
    report = imported(schema_2)
    again = evidence(report_bytes(report))
    assert again.outcome == report
    assert (again.source, again.kind, again.schema_version) == ("k3-mac", "niah", 2)


def test_an_importer_that_does_not_exist_is_invalid(imported, evidence, schema_2):
    document = json.loads(report_bytes(imported(schema_2)))
    document["imported"]["importer"] = "k3"
    assert "imported.importer" in message(evidence(document))


def test_a_foreign_version_is_checked_like_ours(evidence, schema_2):
    for version in (True, "2", 2.0, 3, -(10**30), 10**30):
        found = evidence(schema_2 | {"schema_version": version})
        assert not isinstance(found.outcome, Report)
    assert "newer schema 3" in message(evidence(schema_2 | {"schema_version": 3}))
    assert message(evidence(schema_2 | {"schema_version": True}))


def test_a_foreign_report_below_schema_2_is_legacy_and_can_still_be_read_as_schema_2(evidence, replay, tmp_path):
    for document in (replay, {name: value for name, value in replay.items() if name != "schema_version"}):
        found = evidence(document)
        assert isinstance(found.outcome, Legacy)
        assert found.outcome.report.schema_version == 2
        assert found.source == "k3-mac"
    path = tmp_path / "replay.json"
    path.write_text(json.dumps(replay))
    assert import_report(path) == evidence(replay).outcome.report


def test_a_legacy_report_that_cannot_be_imported_says_why(evidence, replay):
    replay["config"]["eval_mode"] = "free_gen_fussed"
    outcome = evidence(replay).outcome
    assert outcome.report is None
    assert "config.eval_mode" in outcome.problem


@pytest.mark.parametrize("name", ["note.txt", "passwd", "README.md"])
def test_a_file_that_is_no_json_is_no_report(tmp_path, name):
    path = tmp_path / name
    path.write_text("root:x:0:0:root\nnothing of a report\n")
    outcome = read_evidence(path).outcome
    assert isinstance(outcome, NotAReport)
    assert outcome.reason.startswith("not JSON")


@pytest.mark.parametrize(
    ("name", "text"),
    [("x.json", "nothing"), ("x.JSONL", "nothing"), ("x.txt", '{"schema_version": 2, "kind": "niah"'), ("x.json", "")],
)
def test_a_damaged_report_is_not_passed_over(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert isinstance(read_evidence(path).outcome, Unreadable)


@pytest.mark.parametrize(("text", "reason"), [("[]", "a list"), ("3", "a number"), ("null", "null"), ("{}", "keys")])
def test_json_that_is_no_report_says_why(tmp_path, text, reason):
    path = tmp_path / "x.json"
    path.write_text(text)
    outcome = read_evidence(path).outcome
    assert isinstance(outcome, NotAReport)
    assert reason in outcome.reason


def test_only_other_tools_files_are_imported(tmp_path, schema_2):
    for content, why in (
        (report_bytes(OWN), "already"),
        (b'{"a": 1}', "no known format"),
        (b"{", "not JSON"),
        (json.dumps(own(schema_version=1)).encode(), "no importer"),
        (json.dumps(schema_2 | {"schema_version": 3}).encode(), "newer"),
    ):
        path = tmp_path / "x.json"
        path.write_bytes(content)
        with pytest.raises(ReportError, match=why) as caught:
            import_report(path)
        assert str(caught.value).startswith(str(path))
    with pytest.raises(ReportError, match=r"cannot be read"):
        import_report(tmp_path / "missing.json")


def test_every_hostile_file_is_one_line_and_the_rest_is_read(tmp_path):
    (tmp_path / "good.json").write_bytes(report_bytes(OWN))
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(2**30)
    (tmp_path / "deep.json").write_bytes(b'{"arms":' * 10_000 + b"1" + b"}" * 10_000)
    (tmp_path / "digits.json").write_bytes(b'{"arms": ' + b"9" * 10_000 + b"}")
    (tmp_path / "latin.json").write_bytes(b'{"arms": "\xe9"}')
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    vanished = tmp_path / "vanished.json"
    found = {path.name: read_evidence(path).outcome for path in [*find_files([tmp_path]), vanished]}
    assert found.pop("good.json") == OWN
    could_open = {"big.json", "deep.json", "digits.json", "latin.json"}
    for name, outcome in found.items():
        assert isinstance(outcome, Unreadable), name
        assert outcome.could_not_open == (name not in could_open)
        assert outcome.message.isprintable()
    assert len(found) == 8


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
NAMES = st.sampled_from(["schema_version", "kind", "arms", "claims", "gate", "config", "runs", "choices"]) | st.text()
ANYTHING = st.recursive(
    LEAVES | st.sampled_from([2, "niah", "k3_kv_quant_eval", "k3_specdecode_gpu_bench"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=20,
)


@given(ANYTHING)
def test_no_json_makes_the_reader_raise(tmp_path_factory, document):
    outcome = evidence_of(json.dumps(document).encode(), tmp_path_factory.getbasetemp()).outcome
    assert isinstance(outcome, Legacy | NotAReport | Unreadable | Invalid | Report)


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from _places(inner, (*path, name))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_to_a_foreign_file_makes_the_reader_raise(evidence, schema_2, data):
    document = copy.deepcopy(schema_2)
    *path, last = data.draw(st.sampled_from([place for place in _places(document) if place]))
    holder = document
    for name in path:
        holder = holder[name]
    holder[last] = data.draw(ANYTHING | st.floats())
    outcome = evidence(document).outcome
    if isinstance(outcome, Report):
        assert evidence(report_bytes(outcome)).outcome == outcome


def test_no_two_importers_share_a_shape():
    assert len(set(IMPORTERS)) == len(IMPORTERS)


def test_the_journal_of_a_run_is_no_report_and_told_as_an_unfinished_run(tmp_path):
    report, rows = tmp_path / "r.json", tmp_path / "r.json.rows"
    missing = read_evidence(report).outcome
    assert isinstance(missing, Unreadable)
    assert "No such file" in missing.message
    rows.write_bytes(encode(Begun(report=OWN), End())[0] + b'{"crc":"0')
    assert find_files([tmp_path]) == [rows]
    unfinished = read_evidence(rows).outcome
    assert isinstance(unfinished, NotAReport)
    assert "a run that has not come to its end" in unfinished.reason
    begun = read_evidence(report).outcome
    assert isinstance(begun, Unreadable)
    assert begun.could_not_open
    assert begun.message.startswith("is not written yet: r.json.rows beside it holds the rows of a run")
    report.write_bytes(report_bytes(OWN))
    assert read_evidence(report).outcome == OWN


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, report_bytes(OWN), b"[" * 10**6])
def test_a_damaged_journal_is_no_evidence_either(tmp_path, content):
    rows = tmp_path / "r.json.rows"
    rows.write_bytes(content)
    assert isinstance(read_evidence(rows).outcome, NotAReport)
