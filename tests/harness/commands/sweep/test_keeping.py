"""What comes home is kept if it is what was asked for, as it was made, and judged here as it was there."""

import os
from pathlib import Path

import pytest

from gate.judging.rule_set import RULE_SET
from harness.base.errors import OutputError
from harness.base.provenance import read_source
from harness.commands.sweep.keeping import is_done, keep
from harness.plans.preset import NamedModel
from harness.sweep.cells import Cell, cells_of
from harness.sweep.crew import Digests
from harness.sweep.messages import Answer, Asked, MadeFile, Question, WantedModel
from harness.sweep.proof import prove
from harness.sweep.sweep_file import SweepFile
from harness.sweep.work import Made, run_cell
from reports.records.record import digest_of

GRID = SweepFile(name="trial", presets=("parity-tiny-recorded",), settings={"samples": ("1",), "blocks": ("1",)})


@pytest.fixture(name="cell", scope="module")
def one_cell() -> Cell:
    return cells_of(GRID)[0]


@pytest.fixture(name="digests", scope="module")
def proved(cell: Cell) -> dict[NamedModel, Digests]:
    wanted = tuple(WantedModel(role=model.role, name=model.name) for model in cell.models())
    held = prove(Question(models=wanted), RULE_SET).models
    return {NamedModel(one.role, one.name): (one.weights, one.config, one.tokenizer) for one in held}


@pytest.fixture(name="made", scope="module")
def run_once(cell: Cell, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The cell, run by `k3 eval` in a process of its own, as a worker does it."""
    folder, lock = tmp_path_factory.mktemp("worker"), tmp_path_factory.mktemp("machine") / "lock"
    asked = Asked(
        name=cell.name,
        preset=cell.preset,
        own=False,
        overrides=cell.plan.loaded.overrides,
        plan=cell.plan.digest(),
        reports=tuple(path.name for path in cell.reports(folder)),
        source=read_source(),
        rule_set=RULE_SET,
        quiet=None,
        minutes=5,
        patience_s=0,
    )
    made = run_cell(asked, RULE_SET, folder, dict(os.environ), lock)
    assert list(folder.iterdir()) == []
    return made


def answer_of(made: Made) -> Answer:
    return Answer.model_validate_json(made[0])


def changed(made: Made, old: bytes, new: bytes) -> tuple[Answer, dict[str, bytes]]:
    """The report changed on its way, and its digest with it."""
    answer = answer_of(made)
    ((name, data),) = made[1].items()
    assert old in data
    data = data.replace(old, new, 1)
    file = MadeFile(name=name, digest=digest_of(data), verdict=answer.files[0].verdict)
    return answer.replace(files=(file,)), {name: data}


def test_a_report_is_kept_once_it_was_judged_here_and_then_its_cell_is_done(
    cell: Cell, made: Made, digests: dict[NamedModel, Digests], tmp_path: Path
) -> None:
    answer = answer_of(made)
    assert answer.outcome == "made"
    assert answer.seconds > 0
    assert not is_done(cell, tmp_path)
    assert keep(cell, answer, made[1], tmp_path, digests) is None
    assert is_done(cell, tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == list(made[1].values())
    other = cells_of(GRID.replace(seeds=(7,)))[0]
    assert not is_done(other, tmp_path)


def test_another_verdict_here_than_where_it_was_made_is_refused(
    cell: Cell, made: Made, digests: dict[NamedModel, Digests], tmp_path: Path
) -> None:
    answer = answer_of(made)
    claimed = answer.replace(files=tuple(file.replace(verdict="admissible") for file in answer.files))
    wrong = keep(cell, claimed, made[1], tmp_path, digests)
    assert wrong is not None
    assert wrong.endswith("here, admissible where it was made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"parity": {', b'"parrity": {', "no report"),
        (b'"name": "parity-tiny-recorded"', b'"name": "demo"', "of another preset"),
        (b'"value": 1.0', b'"value": 0.5', "judged invalid here"),
    ],
)
def test_what_was_changed_on_its_way_is_refused(
    cell: Cell, made: Made, digests: dict[NamedModel, Digests], tmp_path: Path, old: bytes, new: bytes, why: str
) -> None:
    answer, files = changed(made, old, new)
    assert why in (keep(cell, answer, files, tmp_path, digests) or "kept")
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_not_of_their_digest_and_other_files_are_refused(
    cell: Cell, made: Made, digests: dict[NamedModel, Digests], tmp_path: Path
) -> None:
    answer = answer_of(made)
    ((name, data),) = made[1].items()
    assert "not what its digest says" in (keep(cell, answer, {name: data + b" "}, tmp_path, digests) or "")
    assert "other files" in (keep(cell, answer, {"../x.json": data}, tmp_path, digests) or "")
    assert "other files" in (keep(cell, answer, {}, tmp_path, digests) or "")
    strange: dict[NamedModel, Digests] = {model: (digest_of(b"x"), None, None) for model in digests}
    assert "another verifier than" in (keep(cell, answer, made[1], tmp_path, strange) or "")
    assert list(tmp_path.iterdir()) == []


def test_something_else_in_a_report_s_place_is_told_and_left_alone(cell: Cell, tmp_path: Path) -> None:
    place = tmp_path / f"{cell.name}.json"
    place.write_text("{}")
    with pytest.raises(OutputError, match="move it away"):
        is_done(cell, tmp_path)
    assert place.read_text() == "{}"
