"""A short run of `nox -s kills`, and that what it counts as a fault is one."""

import random
from pathlib import Path

from tests.harness.commands.random_kills import Killable, kill_often, of_report

FLAGS = "--lines=10 --max-new-tokens=2 --samples=1 --processes=1"
SHORT = Killable("niah", ("niah", "--model=k3-tiny", *FLAGS.split()), of_report)


def test_a_run_that_is_killed_goes_on_and_ends_as_a_whole_one(tmp_path: Path) -> None:
    outcome = kill_often(SHORT, 1, tmp_path, random.Random(3))
    assert (outcome.kills, outcome.faults) == (1, ())
    assert outcome.finished >= 1


def test_a_command_that_fails_by_itself_is_a_fault(tmp_path: Path) -> None:
    wrong = Killable("niah", ("niah", "--model=no-such-model"), of_report)
    (fault,) = kill_often(wrong, 1, tmp_path, random.Random(0)).faults
    assert fault.startswith("niah: fails without a kill: k3: ")
