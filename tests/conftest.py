"""No test depends on the clock: hypothesis sets no deadline. Tests that need PyTorch are left out by a marker alone.
JUnit results tell the commit they are of, and what ran them, so that `k3 tests` need not be told. Every test has a run
ledger of its own, which no earlier one has written into, and the user's is out of reach; none has a terminal."""

import os
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import pytest
from _pytest.junitxml import xml_key
from hypothesis import settings

settings.register_profile("k3", deadline=None)
settings.load_profile("k3")

LEDGERS = tempfile.TemporaryDirectory(prefix="k3-tests-state-")
NUMBERS = count()
TORCH_MODULE = "pytestmark = pytest.mark.torch"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where `-m "not torch"` leaves the tests of PyTorch out, modules that import it are not even opened."""
    if "not torch" in config.option.markexpr and collection_path.match("test_*.py"):
        return True if TORCH_MODULE in collection_path.read_text(encoding="utf-8").splitlines() else None
    return None


def pytest_configure() -> None:
    """Before a module is imported that runs something."""
    _own_surroundings()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before the fixtures of a test, which may run something, too."""
    _own_surroundings()


def _own_surroundings() -> None:
    os.environ["K3_STATE"] = f"{LEDGERS.name}/{next(NUMBERS)}"
    os.environ.pop("K3_NO_LEDGER", None)
    os.environ.pop("COLUMNS", None)  # of pytest-xdist's workers


def pytest_sessionstart(session: pytest.Session) -> None:
    """A fixture's property would be lost where workers run the tests (pytest-xdist); the file's own is not."""
    results = session.config.stash.get(xml_key, None)
    if results is None:
        return
    arguments = " ".join(session.config.invocation_params.args)
    results.add_global_property("command", f"pytest {arguments}".replace(str(Path.home()), "~"))
    root = session.config.rootpath
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        results.add_global_property("git_commit", done.stdout.strip())
