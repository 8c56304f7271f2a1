"""docs/demo.md shows what the demo prints, whole and in order, with words between.

After new evidence, or another way of printing, put the lines of the test's message into its fences.
"""

import io
from pathlib import Path

import pytest

from gate.judging.batch import Judge
from harness.commands.run.printing import print_outcomes

REPORTS = ("demo-parity-tiny-recorded", "demo-code-tiny", "demo")


def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines on stdout and stderr, as a terminal of 80 columns shows them."""
    stream = io.StringIO()
    for name, value in (("stdout", stream), ("stderr", stream)):
        monkeypatch.setattr(f"sys.{name}", value)
    monkeypatch.setenv("COLUMNS", "80")
    files = [Judge().read(Path(f"reports/evidence/{name}.json")).judged for name in REPORTS]
    print_outcomes(files, json_output=False, verbose=False)
    monkeypatch.undo()
    return [line for line in stream.getvalue().splitlines() if line]


def test_every_line_of_the_demo_is_annotated_as_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Path("docs/demo.md").read_text(encoding="utf-8").split("```")
    shown = [line for fence in parts[1::2] for line in fence.removeprefix("text").splitlines() if line]
    assert shown == printed(monkeypatch)
    assert all(between.strip() for between in parts[2:-1:2] if between != "\n\n")
