"""Lock files: held by one, waited for by others, and gone with their holder."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.file_lock import HeldError, file_lock

HOLD = """
import sys
from pathlib import Path
from harness.base.file_lock import file_lock
with file_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
    """A process that holds the lock until its stdin ends."""
    command = [sys.executable, "-c", HOLD, str(path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_lock_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with file_lock(path):
        assert path.exists()
        with pytest.raises(HeldError), file_lock(path):
            pytest.fail("held twice")
        assert path.exists()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError), file_lock(path):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_who_waits_is_told_once_and_has_its_turn(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    path = tmp_path / "a.lock"
    told: list[str] = []
    with holder(path, subprocess_environment) as other:

        def waiting() -> None:
            told.append("waiting")
            assert other.stdin is not None
            other.stdin.close()

        with file_lock(path, waiting):
            assert path.exists(), "the lock of a new file, not of the one that its holder deleted"
            with pytest.raises(HeldError), file_lock(path):
                pytest.fail("held twice")
    assert told == ["waiting"]
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_none(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    path = tmp_path / "a.lock"
    with holder(path, subprocess_environment) as other:
        with pytest.raises(HeldError), file_lock(path):
            pytest.fail("held by another process")
        other.send_signal(signal.SIGKILL)
    with file_lock(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "notes"
    target.write_text("mine")
    (tmp_path / "a.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"), file_lock(tmp_path / "a.lock"):
        pytest.fail("followed")
    assert target.read_text() == "mine"
