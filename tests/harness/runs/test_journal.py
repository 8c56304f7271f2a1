"""The journal: whole on disk after every row, taken up again, never over another run's file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.errors import OutputError
from harness.runs.journal import Journal, unfinished
from reports.records.measurement import Arm, Measurement
from reports.records.plan import PlanInfo
from reports.records.provenance import Faithfulness, Host, ModelInfo, Provenance, Source
from reports.report import Report, load_report, write_report

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
    assert sorted(os.listdir(tmp_path)) == [".r.json.lock", "r.json"]


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        Journal.open(skeleton(), tmp_path / "no" / "r.json")


def provenance(**changes: object) -> Provenance:
    host = Host(os="Linux 6.1", machine="x86_64")
    found = Provenance(source=Source(git_commit="a" * 40, dirty=False), argv=("k3", "eval"), host=host, device="cpu")
    return found.replace(**changes)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"host": Host(os="Darwin 24", machine="arm64")}, "host"),
        ({"source": Source(git_commit="b" * 40, dirty=False)}, "source"),
        ({"device": "gpu"}, "device"),
        ({"models": (ModelInfo(role="verifier", id="other"),)}, "models"),
    ],
)
def test_rows_of_other_code_machines_and_models_are_not_mixed(
    tmp_path: Path, changes: dict[str, object], named: str
) -> None:
    path = tmp_path / "r.json"
    Journal.open(skeleton().replace(provenance=provenance()), path).add("one", row(0, 0))
    kept = path.read_bytes()
    with pytest.raises(OutputError, match=named):
        Journal.open(skeleton().replace(provenance=provenance(**changes)), path)
    assert path.read_bytes() == kept


def test_other_arguments_and_a_check_of_the_model_do_not_part_rows(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    checked = Faithfulness(reference="transformers", tokens=64, argmax_agreement=1.0, largest_logit_gap=0.001)
    model = ModelInfo(role="verifier", id="v")
    before = provenance(models=(model,))
    after = provenance(argv=("k3", "eval", "--json"), models=(model.replace(faithfulness=checked),))
    Journal.open(skeleton().replace(provenance=before), path).add("one", row(0, 0))
    assert Journal.open(skeleton().replace(provenance=after), path).done == {("one", 0, 0)}


def without_the_first_row(found: Report) -> Report:
    first, second = found.arms
    return found.replace(arms=(first.replace(measurements=first.measurements[1:]), second))


def without_an_arm(found: Report) -> Report:
    return found.replace(arms=found.arms[:1])


def as_another_engine(found: Report) -> Report:
    return found.replace(arms=(found.arms[0].replace(engine="fused"), found.arms[1]))


def without_order(found: Report) -> Report:
    assert found.plan is not None
    return found.replace(plan=found.plan.replace(order=()))


@pytest.mark.parametrize("edit", [without_the_first_row, without_an_arm, as_another_engine, without_order])
def test_what_was_edited_between_kill_and_resumption_is_not_gone_on_with(tmp_path: Path, edit) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "r.json"
    journal = Journal.open(skeleton(), path)
    for order in range(2):
        journal.add("one", row(order, order))
    write_report(edit(load_report(path)), path)
    kept = path.read_bytes()
    with pytest.raises(OutputError, match="cannot be gone on with"):
        Journal.open(skeleton(), path)
    assert path.read_bytes() == kept


def test_a_second_process_does_not_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    hold_it = (
        "import sys; from harness.runs.output_lock import hold; from pathlib import Path; hold(Path(sys.argv[1])); "
    )
    program = [sys.executable, "-c", hold_it + "print('held', flush=True); sys.stdin.read()", str(path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(OutputError, match="another process"):
            Journal.open(skeleton(), path)
        assert not path.exists()
        other.kill()
    Journal.open(skeleton(), path)  # the lock of a killed process is none
    assert path.exists()


def test_a_pipe_in_place_of_the_report_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    os.mkfifo(path)
    with pytest.raises(OutputError, match="no unfinished run"):
        Journal.open(skeleton(), path)


def test_leftovers_are_found_under_names_that_look_like_patterns(tmp_path: Path) -> None:
    left = tmp_path / ".[a]*.json.left.tmp"
    left.write_text("half")
    Journal.open(skeleton(), tmp_path / "[a]*.json")
    assert not left.exists()
