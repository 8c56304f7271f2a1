"""One holder a machine; a child that inherits the lock keeps it when its parent lets go."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.base.errors import CannotRunError
from harness.base.processes.host_lock import host_lock


def test_a_second_holder_is_refused_and_the_next_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with host_lock(0, path), pytest.raises(CannotRunError, match="another run holds this machine"), host_lock(0, path):
        pass
    with host_lock(0, path):
        assert path.stat().st_mode & 0o777 == 0o666


def test_a_child_that_inherits_the_lock_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with host_lock(0, path) as descriptor:
        child = subprocess.Popen(waiting, stdin=subprocess.PIPE, pass_fds=[descriptor])
    with pytest.raises(CannotRunError), host_lock(0, path):
        pass
    child.kill()
    child.wait()
    with host_lock(5, path):
        pass


def test_who_waits_without_patience_is_next(tmp_path: Path) -> None:
    path, took = tmp_path / "lock", threading.Event()

    def wait() -> None:
        with host_lock(None, path):
            took.set()

    waiter = threading.Thread(target=wait)
    with host_lock(0, path):
        waiter.start()
        assert not took.wait(0.2)
    assert took.wait(10)
    waiter.join()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotRunError, match="cannot be opened"), host_lock(0, tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()
