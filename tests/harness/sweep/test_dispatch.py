"""Cells on worker processes of the real scheduler: each is done once, whoever dies."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CannotRunError
from harness.sweep.crew import Crew
from harness.sweep.dispatch import Dispatch, Home
from harness.sweep.messages import Answer
from harness.sweep.scheduler import local
from harness.sweep.tasks import Tasks
from tests.harness.sweep import cheap
from tests.harness.sweep.cheap import CHEAP, RULE_SET, SOURCE, Cheap


class Kept:
    """What came home."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.said: list[str] = []

    def receive(self, cell: Cheap, answer: Answer, files: dict[str, bytes]) -> str | None:
        assert set(files) == {f"{cell.name}.bin"}
        self.names.append(cell.name)
        return None


@pytest.fixture(name="client", scope="module")
def two_workers() -> Iterator[Any]:
    with local(2) as client:
        yield client


@pytest.fixture(name="kept")
def nothing_yet() -> Kept:
    return Kept()


def dispatch(client: Any, kept: Kept, tasks: Tasks = CHEAP, patience_s: float = 30) -> Dispatch[Cheap]:
    home = Home(Cheap.asked, kept.receive, kept.said.append)
    return Dispatch(client, Crew(SOURCE, RULE_SET, {}), tasks, "{}", home, patience_s)


def cells(folder: Path, count: int) -> list[Cheap]:
    return [Cheap(f"cell-{number}", folder) for number in range(count)]


def until(there: Callable[[], bool]) -> None:
    while not there():
        threading.Event().wait(0.02)


def test_every_cell_is_done_once(client: Any, kept: Kept, tmp_path: Path) -> None:
    todo = cells(tmp_path, 40)
    found = dispatch(client, kept)
    found.work(todo)
    assert (found.made, found.failed) == (40, {})
    assert Counter(kept.names) == Counter(cell.name for cell in todo)
    assert Counter((tmp_path / "ended").read_text().split()) == Counter(kept.names)


def test_a_killed_worker_s_cell_runs_once_more_and_comes_home_once(client: Any, kept: Kept, tmp_path: Path) -> None:
    slow = Cheap("slow", tmp_path, slow=True)
    began = tmp_path / "slow.began"

    def kill() -> None:
        until(lambda: began.exists() and began.read_text().endswith("\n"))
        os.kill(int(began.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = dispatch(client, kept)
    found.work([slow, *cells(tmp_path, 10)])
    killer.join()
    assert (found.made, found.failed) == (11, {})
    assert Counter(kept.names) == Counter(["slow", *(cell.name for cell in cells(tmp_path, 10))])
    first, second = began.read_text().split()
    assert first != second
    assert (tmp_path / "ended").read_text().split().count("slow") == 1
    assert "slow: its worker was lost; it runs again" in kept.said
    assert sum(line.endswith(": runs slow") for line in kept.said) == 2


def test_workers_of_one_machine_take_turns(client: Any, kept: Kept, tmp_path: Path) -> None:
    held = [Cheap(f"held-{number}", tmp_path, slow=True) for number in range(2)]
    seen: list[int] = []

    def look() -> None:
        until(lambda: (tmp_path / "held-0.began").exists())
        threading.Event().wait(2)  # two looks at who is there: enough to hand out the second one
        seen.append(len(list(tmp_path.glob("*.began"))))
        (tmp_path / "go").touch()

    looker = threading.Thread(target=look)
    looker.start()
    dispatch(client, kept, replace(CHEAP, prove=cheap.prove_one_machine)).work(held)
    looker.join()
    assert seen == [1]
    assert kept.names == ["held-0", "held-1"]


def test_a_cell_waits_for_the_machine_it_names(client: Any, kept: Kept, tmp_path: Path) -> None:
    todo = [Cheap("elsewhere", tmp_path, machine="no-such"), *cells(tmp_path, 3)]
    found = dispatch(client, kept, patience_s=3)
    with pytest.raises(CannotRunError, match=r"cells left: 1, and no machine takes them: m\d+: it is not no-such"):
        found.work(todo)
    assert found.made == 3


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        (replace(CHEAP, prove=cheap.prove_badly), "no worker with the resource k3-run=1 that proved itself"),
        (replace(CHEAP, run=cheap.work_on_few), "it could not run it"),
    ],
)
def test_workers_that_are_not_what_they_should_be_get_nothing(
    client: Any, kept: Kept, tmp_path: Path, tasks: Tasks, why: str
) -> None:
    with pytest.raises(CannotRunError, match=why):
        dispatch(client, kept, tasks, patience_s=2).work(cells(tmp_path, 1))
    assert kept.names == []


def test_nobody_is_waited_for_once_all_machines_refuse_all_cells(client: Any, kept: Kept, tmp_path: Path) -> None:
    """With the patience of an hour this test comes to its end."""
    found = dispatch(client, kept, replace(CHEAP, run=cheap.work_on_few), patience_s=3600)
    with pytest.raises(CannotRunError, match=r"cells left: 2, and no machine takes them: m\d+: it could not run it"):
        found.work(cells(tmp_path, 2))
    refusals = [line for line in kept.said if "does not run" in line]
    assert len(set(refusals)) == len(refusals) == 4


def test_a_cell_that_fails_is_told_and_the_others_go_on(client: Any, kept: Kept, tmp_path: Path) -> None:
    found = dispatch(client, kept, replace(CHEAP, run=cheap.work_that_fails))
    found.work(cells(tmp_path, 2))
    assert set(found.failed) == {"cell-0", "cell-1"}
    assert all(why.endswith("k3: no model") for why in found.failed.values())


def test_what_home_refuses_is_not_made(client: Any, kept: Kept, tmp_path: Path) -> None:
    found = dispatch(client, kept)
    found.home = Home(Cheap.asked, lambda cell, answer, files: "other files came than were asked for", kept.said.append)
    found.work(cells(tmp_path, 1))
    assert found.made == 0
    assert found.failed["cell-0"].endswith("other files came than were asked for")
