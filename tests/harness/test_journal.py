"""The journal: whole on disk after every row, taken up again, never over another run's file."""

import os
from pathlib import Path

import pytest

from harness.errors import OutputError
from harness.journal import Journal, unfinished
from reports.measurement import Arm, Measurement
from reports.plan import PlanInfo
from reports.report import Report, load_report

DIGEST = "sha256:" + "a" * 64


def skeleton(digest: str = DIGEST) -> Report:
    plan = PlanInfo(digest=digest, samples=2, repeats=1, order=(), complete=False)
    arms = tuple(Arm(name=name, role="sut", engine="ar", measurements=()) for name in ("one", "two"))
    return Report(kind="niah", report_id="x", plan=plan, arms=arms)


def row(sample: int, order: int) -> Measurement:
    return Measurement(sample=sample, repeat=0, order=order)


def test_every_row_is_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    journal = Journal.open(skeleton(), path)
    for order, arm in enumerate(("one", "two")):
        journal.add(arm, row(0, order))
        stored = load_report(path)
        assert stored.plan is not None
        assert [run.arm for run in stored.plan.order or ()] == ["one", "two"][: order + 1]
    assert [len(arm.measurements) for arm in load_report(path).arms] == [1, 1]


def test_an_interrupted_run_goes_on_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    whole = Journal.open(skeleton(), tmp_path / "whole.json")
    for order, (arm, sample) in enumerate([("one", 0), ("two", 0), ("two", 1), ("one", 1)]):
        whole.add(arm, row(sample, order))
    first = Journal.open(skeleton(), path)
    first.add("one", row(0, 0))
    (tmp_path / ".r.json.left.tmp").write_text("half")
    second = Journal.open(skeleton(), path)
    assert second.done == {("one", 0, 0)}
    assert not (tmp_path / ".r.json.left.tmp").exists()
    for order, (arm, sample) in enumerate([("two", 0), ("two", 1), ("one", 1)], start=1):
        second.add(arm, row(sample, order))
    resumed, straight = second.finish({}, None), whole.finish({}, None)
    assert resumed.arms == straight.arms
    assert resumed.plan is not None
    assert straight.plan is not None
    assert resumed.plan.replace(resumes=()) == straight.plan
    assert [resume.order for resume in resumed.plan.resumes] == [1]


def test_another_runs_file_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    Journal.open(skeleton(), path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="another run"):
        Journal.open(skeleton("sha256:" + "b" * 64), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"notes of mine", b'{"schema_version": 2}'])
def test_a_file_that_is_no_unfinished_run_is_never_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    assert unfinished(path) is None
    with pytest.raises(OutputError, match="choose another --out"):
        Journal.open(skeleton(), path)
    assert path.read_bytes() == content


def test_a_failed_write_keeps_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    journal = Journal.open(skeleton(), path)
    journal.add("one", row(0, 0))
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left") as caught:
        journal.add("two", row(0, 1))
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        Journal.open(skeleton(), tmp_path / "no" / "r.json")
