"""The journal: a line a row, taken up again after a kill, never over another run's rows."""

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import OutputError
from harness.runs.journal import Journal, read_journal, refuse_taken, remove_leftovers, settle
from harness.runs.measured_report import measured_report
from reports.journal import Entry, MeasuredRow, journal_of
from reports.records.measurement import Measurement, Pause
from reports.report import load_report, write_report
from tests.harness.runs.skeletons import OTHER, provenance, skeleton


def row(arm: str, sample: int, order: int, pause: Pause | None = None) -> MeasuredRow:
    tokens = (order, 7, 7)
    measured = Measurement(sample=sample, repeat=0, order=order, token_ids=tokens, text="\u00e9\n" * 20)
    return MeasuredRow(arm=arm, row=measured, pause=pause)


WARM_UP = MeasuredRow(arm="one", row=Measurement(sample=0, repeat=0, token_ids=(0, 7)), warm_up=True)
ROWS = [row("one", 0, 0), row("two", 0, 1), row("two", 1, 2), row("one", 1, 3)]


def begin(out: Path, *entries: Entry) -> bytes:
    """A run that was killed after these entries; the bytes of its journal."""
    with Journal.open(skeleton(), out) as journal:
        for entry in entries:
            journal.append(entry)
    return journal_of(out).read_bytes()


def test_a_row_is_on_disk_at_once_and_costs_a_line(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    with Journal.open(skeleton(), out) as journal:
        for number, entry in enumerate(ROWS, start=1):
            before = journal_of(out).read_bytes()
            journal.append(entry)
            after = journal_of(out).read_bytes()
            assert after.startswith(before)
            assert after.count(b"\n") == before.count(b"\n") + 1
            found = read_journal(out)
            assert found is not None
            assert list(found.entries) == ROWS[:number]
    assert not out.exists()


def test_an_interrupted_run_goes_on_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    begin(out, ROWS[0])
    begin(out, *ROWS[1:])
    with Journal.open(skeleton(), out) as journal:
        assert journal.of(MeasuredRow) == ROWS
        report = measured_report(journal.skeleton, journal.entries)
    assert report.plan is not None
    assert [(run.arm, run.sample) for run in report.plan.order or ()] == [
        ("one", 0),
        ("two", 0),
        ("two", 1),
        ("one", 1),
    ]
    assert [[one.order for one in arm.measurements] for arm in report.arms] == [[0, 3], [1, 2]]
    assert [resume.order for resume in report.plan.resumes] == [1], "once for every process that measured something"
    assert report.plan.complete


def test_the_report_is_written_once_and_the_journal_goes(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    begin(out, *ROWS)
    report = skeleton()
    settle(report, out)
    assert load_report(out) == report
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_run_without_a_row_leaves_nothing(tmp_path: Path) -> None:
    with Journal.open(skeleton(), tmp_path / "r.json") as journal:
        journal.append(WARM_UP)
    assert os.listdir(tmp_path) == []


LINES = [WARM_UP, *ROWS]


@given(st.data())
def test_cut_anywhere_the_run_goes_on_with_every_whole_row(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    out = tmp_path_factory.mktemp("cut") / "r.json"
    whole = begin(out, *LINES)
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    journal_of(out).write_bytes(whole[:cut])
    kept = LINES[: whole[:cut].count(b"\n") - 1]
    with Journal.open(skeleton(), out) as journal:
        found = [entry for entry in journal.entries if isinstance(entry, MeasuredRow)]
        assert found == kept
        for entry in LINES[len(kept) :]:
            journal.append(entry)
    lines = read_journal(out)
    assert lines is not None
    assert [entry for entry in lines.entries if isinstance(entry, MeasuredRow)] == LINES


def test_a_damaged_line_is_refused_with_the_remedy_and_nothing_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    whole = begin(out, *ROWS)
    lines = whole.splitlines(keepends=True)
    damaged = b"".join([*lines[:3], lines[3].replace(b"7", b"8", 1), *lines[4:]])
    journal_of(out).write_bytes(damaged)
    with pytest.raises(OutputError, match=r"r\.json\.rows: line 4: .*; delete that line and all after it") as caught:
        begin(out)
    assert "\n" not in str(caught.value)
    assert journal_of(out).read_bytes() == damaged
    journal_of(out).write_bytes(b"".join(lines[:3]))  # as the remedy says
    with Journal.open(skeleton(), out) as journal:
        assert journal.of(MeasuredRow) == ROWS[:2]


@pytest.mark.parametrize("content", [b"", b"notes of mine", b"notes\nof mine\n", b'{"crc":"0', b"\0" * 5000])
def test_what_is_no_journal_is_never_touched(tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "r.json"
    journal_of(out).write_bytes(content)
    with pytest.raises(OutputError, match="choose another --out"):
        begin(out, ROWS[0])
    assert journal_of(out).read_bytes() == content
    assert not out.exists()


def test_a_pipe_or_a_link_in_place_of_the_journal_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.json.rows")
    with pytest.raises(OutputError, match="named pipe"):
        begin(tmp_path / "p.json")
    begin(tmp_path / "r.json", ROWS[0])
    (tmp_path / "l.json.rows").symlink_to(tmp_path / "r.json.rows")
    with pytest.raises(OutputError, match="cannot be written"):
        begin(tmp_path / "l.json")


@pytest.mark.parametrize("content", [b"", b"notes of mine", b'{"schema_version": 2}'])
def test_what_is_no_run_is_never_touched(tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "r.json"
    out.write_bytes(content)
    with pytest.raises(OutputError, match="choose another --out"):
        begin(out)
    assert out.read_bytes() == content
    assert os.listdir(tmp_path) == ["r.json"]


def test_an_unfinished_report_of_an_older_k3_is_refused_with_the_remedy(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    write_report(skeleton(), out)
    with pytest.raises(
        OutputError, match=r"older K3 .* finish it with that K3 \(commit aaaaaaaaaaaa\), or choose another"
    ):
        refuse_taken(out)


def test_rows_of_another_run_are_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    kept = begin(out, ROWS[0])
    others = {
        "they are of another run": skeleton(OTHER),
        "provenance.device has changed since it was begun": skeleton(provenance=provenance(device="gpu")),
    }
    for said, other in others.items():
        with pytest.raises(
            OutputError, match=f"its rows cannot be gone on with: {said}; choose another --out"
        ) as caught:
            Journal.open(other, out).__enter__()
        assert "\n" not in str(caught.value)
        assert journal_of(out).read_bytes() == kept


def test_the_run_goes_on_under_its_first_name(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    begin(out, ROWS[0])
    now = skeleton(provenance=provenance(argv=("k3", "eval", "--json")), report_id="y")
    with Journal.open(now, out) as journal:
        assert journal.of(MeasuredRow) == ROWS[:1]
        assert journal.skeleton == now.replace(report_id="x")


def test_what_a_header_says_beyond_the_run_is_not_believed(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    forged = skeleton(arms=(skeleton().arms[0].replace(measurements=(ROWS[0].row,)), skeleton().arms[1]))
    with Journal.open(forged, out) as journal:
        journal.append(ROWS[1])
    with pytest.raises(OutputError, match="arms"):
        begin(out)


def test_a_failed_write_keeps_what_was_written(tmp_path: Path) -> None:
    """The system itself refuses to let the file grow: a part of the line is written, then there is an error."""
    out = tmp_path / "r.json"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.open(skeleton(), out) as journal:
        journal.append(ROWS[0])
        before = journal_of(out).read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
        try:
            with pytest.raises(
                OutputError, match=r"File too large.*; make room, then the same command goes on"
            ) as caught:
                journal.append(ROWS[1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert journal_of(out).read_bytes() == before
    with Journal.open(skeleton(), out) as journal:
        assert journal.of(MeasuredRow) == ROWS[:1]


def test_a_report_that_cannot_be_written_keeps_its_rows(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    kept = begin(out, *ROWS)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(OutputError, match="make room"):
            settle(skeleton(), out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["r.json.rows"]
    assert journal_of(out).read_bytes() == kept


def test_more_rows_than_a_report_may_have_are_told_when_they_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reports import journal as form

    out = tmp_path / "r.json"
    before = begin(out, ROWS[0])
    monkeypatch.setattr(form, "MAX_BYTES", len(before) + 100)
    with (
        pytest.raises(OutputError, match="what was measured is kept there"),
        Journal.open(skeleton(), out) as journal,
    ):
        journal.append(ROWS[1])
    assert journal_of(out).read_bytes().startswith(before)


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        begin(tmp_path / "no" / "r.json")


def test_leftovers_are_found_under_names_that_look_like_patterns(tmp_path: Path) -> None:
    left = [tmp_path / ".[a]*.json.left.tmp", tmp_path / ".[a]*.json.rows.left.tmp"]
    other = tmp_path / ".ab.json.left.tmp"
    for path in (*left, other):
        path.write_text("half")
    remove_leftovers(tmp_path / "[a]*.json")
    assert list(tmp_path.iterdir()) == [other]
