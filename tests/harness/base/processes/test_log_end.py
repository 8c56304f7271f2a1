from pathlib import Path

import pytest

from harness.base.processes.log_end import LINE_BYTES, end_of, last_line


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", None),
        (b"\n \n", None),
        (b"first\nlast\n\n", "last"),
        (b"10 %\r20 %", "20 %"),
        (b"x\n" * LINE_BYTES + b"k3: it broke\n", "k3: it broke"),
        (b"\xff broken", "\ufffd broken"),
    ],
)
def test_the_last_line_that_says_something_is_found(tmp_path: Path, content: bytes, told: str | None) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(content)
    assert last_line(log) == told


def test_a_log_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert last_line(tmp_path / "none") is None
    assert end_of(tmp_path / "none", 10) == ""


def test_no_more_is_read_than_was_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"0123456789")
    assert end_of(log, 4) == "6789"
