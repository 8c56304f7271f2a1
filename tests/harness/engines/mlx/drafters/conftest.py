"""Digests of test checkpoints are remembered in a cache of the tests' own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
