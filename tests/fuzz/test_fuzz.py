"""A short run of `nox -s fuzz`, and that what it counts as a fault is one."""

import json
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from reports.importers.registry import IMPORTER_NAMES
from reports.reading.reader import evidence_of
from tests.fuzz import bounded
from tests.fuzz.bounded import CODES, CONVERT, fault_of, run_all
from tests.fuzz.cases import KINDS, command_of, foreign, reports


def test_commands_over_spoiled_files_end_as_they_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    (folder := tmp_path / "files").mkdir()
    reports(), foreign()
    cases = list(run_all(range(150), partial(command_of, 1, folder=folder), folder))
    assert [case for case in cases if case.fault] == []
    assert [case.number for case in cases] == list(range(150))
    assert {case.code for case in cases} == CODES
    assert {case.command[0] for case in cases} >= {"gate", "report", "eval", "niah"}


def test_every_importer_that_ships_reads_one_of_the_foreign_files() -> None:
    read = {
        evidence_of(
            "\n".join(one if suffix == "txt" else json.dumps(one) for one in documents).encode(), Path("f")
        ).source
        for suffix, documents in foreign()
    }
    assert read == IMPORTER_NAMES


def test_what_is_made_follows_from_seed_and_number(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    for number in range(40):
        first, again = (command_of(7, number, tmp_path / name) for name in ("a", "b"))
        assert [part.replace("/a/", "/b/").removesuffix("/a") for part in first] == [
            part.removesuffix("/b") for part in again
        ]
        for path in (tmp_path / "a").glob("r.json"):
            assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_shares_of_what_is_made_are_of_a_hundred() -> None:
    assert sum(KINDS.values()) == 100


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by SIGKILL"),
        (lambda: bytearray(2**31), "traceback: MemoryError"),
        (lambda: 1 / 0, "traceback: ZeroDivisionError"),
        (lambda: time.sleep(600), "took over 1 s"),
    ],
)
def test_what_ends_badly_is_a_fault_and_the_next_command_runs(
    end: object, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.models.gguf.convert.convert", lambda *given: end())  # type: ignore[operator]
    monkeypatch.setattr(bounded, "CLOCK_S", 1)
    commands = [[CONVERT, "x"], ["gate", "rules"]]
    first, second = run_all(range(2), lambda number: commands[number], tmp_path)
    assert first.fault.startswith(fault)
    assert (second.code, second.fault) == (0, "")


@pytest.mark.parametrize(
    ("code", "out", "err", "fault"),
    [
        (0, "{}", "", ""),
        (2, "no", "", "JSON was asked for"),
        (3, "", "k3: no", ""),
        (3, "", "", "exit 3 without a word"),
        (1, "", "k3: no", "exit 1"),
        (3, "", "k3: \x1b[31m", "control characters"),
        (1, "", "Traceback\nValueError: x\nk3: this is a bug in K3", "traceback: ValueError: x"),
    ],
)
def test_what_counts_as_a_fault(code: int, out: str, err: str, fault: str) -> None:
    found = fault_of(["gate", "check", "f", "--format", "json"], code, out, err)
    assert found.startswith(fault)
    assert bool(found) == bool(fault)
