"""Each hostile folder, through the command: nothing of it runs, and it ends in one line and exit 3, or runs rightly."""

import random
from pathlib import Path

import pytest

from harness.cli import run
from harness.models.folder.model_folder import open_folder
from tests.harness.models.hostile_folders import CANARY, CODE, HOSTILE, TEMPLATES, random_hostile, write_good

RUNS = frozenset({"no tokenizer_config.json", "generation_config is no JSON", "base is a list"})
"""What a library reads by other files or passes over; it may run, and must not end in a traceback."""


def asked(folder: Path) -> int:
    """The exit code of a short needle run on the folder."""
    flags = ["--samples=1", "--repeats=1", "--lines=30", "--max-new-tokens=2", f"--out={folder.parent / 'r.json'}"]
    return run(["niah", f"--model={folder}", *flags])


def complaint(errors: str) -> str:
    """The last line of stderr; a traceback or a bug of K3's is none."""
    assert "Traceback" not in errors
    assert "bug in K3" not in errors
    return errors.strip().splitlines()[-1]


def test_there_are_as_many_as_promised() -> None:
    assert len(HOSTILE) >= 60


def test_the_good_folder_runs(cache: Path, tmp_path: Path) -> None:
    assert asked(write_good(tmp_path / "model")) in (0, 2)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_runs_nothing_and_ends_in_one_line(
    name: str, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_good(tmp_path / "model")
    HOSTILE[name](folder)
    status = asked(folder)
    errors = capsys.readouterr().err
    assert not (tmp_path / CANARY).exists()
    if name in RUNS and status != 3:
        assert status in (0, 2)
        return
    assert status == 3, errors
    line = complaint(errors)
    assert line.startswith("k3: ")
    assert line.isprintable()
    assert len(line) < 700


@pytest.mark.parametrize("name", CODE)
def test_code_is_refused_before_any_library_reads_the_folder(name: str, tmp_path: Path) -> None:
    folder = write_good(tmp_path / "model")
    CODE[name](folder)
    if name == "class of its own":  # only transformers knows which classes it has
        return
    from harness.base.errors import ModelError

    with pytest.raises(ModelError, match="may run code of its own"):
        open_folder(folder)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_hostile_template_is_no_obstacle_to_completion(
    name: str, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way that the refusal names."""
    folder = write_good(tmp_path / "model")
    TEMPLATES[name](folder)
    assert asked(folder) == 3
    assert "workload.prompt_style=completion" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(10))
def test_a_random_folder_ends_by_itself(
    seed: int, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = random_hostile(tmp_path / "model", random.Random(seed))
    status = asked(tmp_path / "model")
    errors = capsys.readouterr().err
    assert status in (0, 2, 3), f"{told}: {errors}"
    assert "Traceback" not in errors
    assert not (tmp_path / CANARY).exists()
