"""What people read of committed reports, whole, at 80 and 120 columns and through a pipe.

`python -m tests.gate.render.test_snapshots` writes the snapshots anew; look at the difference before you commit it.
"""

import io
import os
from pathlib import Path

import pytest

from gate.judging.batch import Judge
from gate.render import text
from gate.render.tables.show import write_measured, write_outcome

REPORTS = ("demo", "demo-code-tiny", "demo-parity-tiny-recorded", "kvquant-gemma3-270m")
LISTED = "demo"
PLACES = {"80": "80", "120": "120", "pipe": ""}
"""Where it is read, and what the environment says of its columns there."""

EVIDENCE = Path("reports/evidence")
SNAPSHOTS = Path("tests/gate/render/snapshots")


def read_as(name: str, columns: str) -> str:
    os.environ["COLUMNS"] = columns
    read = Judge().read(EVIDENCE / f"{name}.json")
    assert read.evidence.report is not None
    stream = io.StringIO()
    write_outcome(read.judged, stream, verbose=False)
    write_measured(read.evidence.report, read.judged, stream)
    return stream.getvalue()


def listed_as(name: str, columns: str) -> str:
    """As `k3 gate check` lists it."""
    os.environ["COLUMNS"] = columns
    stream = io.StringIO()
    text.write([Judge().read(EVIDENCE / f"{name}.json").judged], stream)
    return stream.getvalue()


@pytest.mark.parametrize("place", PLACES)
def test_people_read_the_list_that_was_looked_at(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "")
    assert listed_as(LISTED, PLACES[place]) == (SNAPSHOTS / f"gate-check-{LISTED}-{place}.txt").read_text()


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("place", PLACES)
def test_people_read_what_was_looked_at(name: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "")
    assert read_as(name, PLACES[place]) == (SNAPSHOTS / f"{name}-{place}.txt").read_text()


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("*.json")), ids=lambda path: path.stem)
def test_nothing_is_wider_than_it_may_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "")
    for columns in (80, 120):
        for line in (read_as(path.stem, str(columns)) + listed_as(path.stem, str(columns))).splitlines():
            assert len(line) <= columns or " " not in line.strip(), line


if __name__ == "__main__":
    for place, columns in PLACES.items():
        (SNAPSHOTS / f"gate-check-{LISTED}-{place}.txt").write_text(listed_as(LISTED, columns))
    for name in REPORTS:
        for place, columns in PLACES.items():
            (SNAPSHOTS / f"{name}-{place}.txt").write_text(read_as(name, columns))
