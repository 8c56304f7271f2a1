"""docs/demo.md shows what the demo prints, whole and in order, with words between.

After new evidence, or another way of printing, put the lines of the test's message into its fences.
"""

import io
from pathlib import Path

import pytest

from gate.judging.batch import Judge
from gate.render.tables.show import write_measured, write_outcome

REPORTS = ("demo-parity-tiny-recorded", "demo-code-tiny", "demo")


def printed() -> list[str]:
    stream = io.StringIO()
    for name in REPORTS:
        read = Judge().read(Path(f"reports/evidence/{name}.json"))
        assert read.evidence.report is not None
        write_outcome(read.judged, stream, verbose=False)
        write_measured(read.evidence.report, read.judged, stream)
    return [line for line in stream.getvalue().splitlines() if line]


def test_every_line_of_the_demo_is_annotated_as_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parts = Path("docs/demo.md").read_text(encoding="utf-8").split("```")
    shown = [line for fence in parts[1::2] for line in fence.removeprefix("text").splitlines() if line]
    assert shown == printed()
    assert all(between.strip() for between in parts[2:-1:2] if between != "\n\n")
