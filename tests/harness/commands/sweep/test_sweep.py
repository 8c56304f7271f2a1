"""`k3 sweep`: a grid in a folder that says all, and what is refused before a worker starts."""

import json
from pathlib import Path

import pytest

from harness.cli import run
from harness.commands.sweep.on_worker import undasked

GRID = """
name = "trial"
presets = ["parity-tiny-recorded"]
[settings]
samples = [1]
blocks = [1]
"""


@pytest.fixture(name="file")
def grid_file(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def test_a_cell_is_run_judged_and_kept_and_not_run_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    command = ["sweep", str(file), "--out", str(folder), "--busy", "--json"]
    assert run([*command, "--plan"]) == 0
    (planned,) = json.loads(capsys.readouterr().out)
    assert (planned["done"], planned["settings"]) == (False, ["samples=1", "blocks=1"])
    first = run(command)
    told = json.loads(capsys.readouterr().out)
    assert told["failed"] == {}
    (report,) = told["reports"]
    assert report["report"] == str(folder / f"{planned['cell']}.json")
    before = Path(report["report"]).read_bytes()
    assert [path.name for path in folder.iterdir()] == [f"{planned['cell']}.json"]
    assert run(command) == first
    said = capsys.readouterr()
    assert "1 cell, 1 done" in said.err
    assert "joined" not in said.err
    assert Path(report["report"]).read_bytes() == before


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--scheduler", "10.0.0.2:8786"], "without TLS"),
        (["--scheduler", "tls://10.0.0.2:8786"], "give --tls-ca, --tls-cert and --tls-key"),
        (["--scheduler", "pickle"], "--scheduler 'pickle'"),
        (["--tls-ca", "ca.pem"], "belong together"),
        (["--workers", "65"], "less than or equal to 64"),
    ],
)
def test_what_cannot_be_reached_safely_is_wrong_usage(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], why: str
) -> None:
    assert run(["sweep", str(file), "--out", str(tmp_path / "out"), *options]) == 64
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_error_names_the_file_of_the_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.toml"
    file.write_text('name = "own"\npresets = ["code-tiny"]\n[settings]\nno_such = [1]\n')
    assert run(["sweep", str(file), "--plan"]) == 64
    assert capsys.readouterr().err.startswith(f"k3: {file}: ")


def test_a_run_has_the_threads_of_its_machine_not_those_dask_sets() -> None:
    import dask
    import distributed

    assert distributed
    with dask.config.set({"distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1}}):
        assert undasked({"OMP_NUM_THREADS": "1", "PATH": "/bin"}) == {"PATH": "/bin"}
        assert undasked({"OMP_NUM_THREADS": "4"}) == {"OMP_NUM_THREADS": "4"}
