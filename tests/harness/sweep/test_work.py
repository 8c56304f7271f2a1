"""A cell on a worker that cannot run it: nothing is measured, and the answer says why."""

import os
from pathlib import Path

import pytest

from gate.judging.rule_set import RULE_SET
from harness.base.processes.host_lock import host_lock
from harness.base.provenance import read_source
from harness.plans.preset_file import read_preset
from harness.sweep.cells import cells_of
from harness.sweep.messages import Answer, Asked, Quiet
from harness.sweep.sweep_file import SweepFile
from harness.sweep.work import run_cell
from reports.records.record import digest_of


def asked(**fields: object) -> Asked:
    (cell,) = cells_of(SweepFile(name="trial", presets=("code-tiny",), seeds=(1,)))
    told = {
        "name": cell.name,
        "preset": "code-tiny",
        "own": False,
        "overrides": cell.plan.loaded.overrides,
        "plan": cell.plan.digest(),
        "reports": (f"{cell.name}.json",),
        "source": read_source(),
        "rule_set": RULE_SET,
        "quiet": None,
        "minutes": 5,
        "patience_s": 0.0,
    }
    return Asked.model_validate(told | fields)


def answer_of(one: Asked, folder: Path) -> Answer:
    told, files = run_cell(one, RULE_SET, folder, dict(os.environ), folder / "lock")
    assert files == {}
    assert [path.name for path in folder.iterdir() if path.name != "lock"] == []
    return Answer.model_validate_json(told)


@pytest.mark.parametrize(
    ("fields", "outcome", "why"),
    [
        ({"rule_set": RULE_SET + 1}, "unfit", f"its rule set is {RULE_SET}"),
        ({"source": read_source().replace(git_commit="0" * 40)}, "unfit", "another version of K3"),
        ({"plan": digest_of(b"other")}, "unfit", "another plan of the cell"),
        ({"quiet": Quiet(others=-1.0, load=-1.0)}, "busy", ""),
        ({"preset": "no-such"}, "failed", "no preset named"),
    ],
)
def test_what_does_not_fit_is_not_run(tmp_path: Path, fields: dict[str, object], outcome: str, why: str) -> None:
    found = answer_of(asked(**fields), tmp_path)
    assert found.outcome == outcome
    assert why in (found.reason or "")
    assert found.seconds == 0


def test_a_machine_that_runs_something_is_busy(tmp_path: Path) -> None:
    with host_lock(0, tmp_path / "lock"):
        found = answer_of(asked(), tmp_path)
    assert found.outcome == "busy"
    assert "another run holds this machine" in (found.reason or "")


def test_a_run_that_cannot_be_is_told_in_its_own_words(tmp_path: Path) -> None:
    text = read_preset("code-tiny").decode().replace('"code-tiny"', '"mine"').replace('"k3-tiny"', '"no/such-model"')
    (tmp_path / "mine.toml").write_text(text)
    (cell,) = cells_of(SweepFile(name="trial", presets=(str(tmp_path / "mine.toml"),)))
    (tmp_path / "mine.toml").unlink()
    told = {"preset": text, "own": True, "overrides": (), "plan": cell.plan.digest(), "name": cell.name}
    found = answer_of(asked(**told), tmp_path)
    assert found.outcome == "failed"
    assert (found.reason or "").startswith("k3: no/such-model is no folder here")
    assert found.seconds > 0
