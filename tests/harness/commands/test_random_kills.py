"""A short run of `nox -s kills`, and that what it counts as a fault is one."""

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.harness.commands.random_kills import Killable, KillableFetch, kill_often, of_report

FLAGS = "--lines=10 --max-new-tokens=2 --samples=1 --processes=1"
SHORT = Killable("niah", ("niah", "--model=k3-tiny", *FLAGS.split()), of_report)


def test_a_run_that_is_killed_goes_on_and_ends_as_a_whole_one(tmp_path: Path) -> None:
    outcome = kill_often(SHORT, 1, tmp_path, random.Random(3))
    assert (outcome.kills, outcome.faults) == (1, ())
    assert outcome.finished >= 1


@pytest.mark.skipif(find_spec("pip") is None, reason="fetching is what pip does")
def test_a_fetch_that_is_killed_leaves_no_half_model_and_the_next_one_succeeds(tmp_path: Path) -> None:
    job = KillableFetch.of(tmp_path, verified=False)
    outcome = kill_often(job, 1, tmp_path, random.Random(1))
    assert (outcome.kills, outcome.faults) == (1, ())
    models, left = job.result(tmp_path / "whole.json")
    assert "model.safetensors" in {path.rpartition("/")[2] for path in models}
    assert left == []
    (tmp_path / "whole.json" / next(iter(models))).write_bytes(b"half")
    assert job.half_made(tmp_path / "whole.json", (models, left))


def test_a_command_that_fails_by_itself_is_a_fault(tmp_path: Path) -> None:
    wrong = Killable("niah", ("niah", "--model=no-such-model"), of_report)
    (fault,) = kill_often(wrong, 1, tmp_path, random.Random(0)).faults
    assert fault.startswith("niah: fails without a kill: k3: ")
