"""Progress without a terminal: plain lines, few of them, on stderr."""

import io
import re
import threading

import pytest
from rich.console import Console
from rich.progress import MofNCompleteColumn

from harness.base.progress import QUIET_S, Pace, PlainLines, bar, told
from harness.base.terminal_bar import WHOLE, TerminalBar


class Clock:
    """A clock that is set by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_phase_is_told_at_once_and_its_steps_rarely(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = PlainLines(clock)
    lines(0, 1, "loading m")
    lines(0, 100, "warming up")
    for step in range(100):
        lines(step, 100, f"oracle, sample {step}")
        clock.seconds += 1.0
    lines(100, 100, "auditing streams")
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()
    assert said[:3] == ["[0/1] loading m (0 s)", "[0/100] warming up (0 s)", "[0/100] oracle, sample 0 (0 s)"]
    left = {30: "70 s", 60: "40 s", 90: "10 s"}
    assert said[3:-1] == [f"[{n}/100] oracle, sample {n} ({n} s, about {left[n]} left)" for n in left]
    assert said[-1] == "[100/100] auditing streams (100 s)"


def test_amounts_are_told_when_it_was_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = PlainLines(clock)
    lines.say("downloading m (300 MB)")
    for _ in range(10):
        clock.seconds += QUIET_S / 2
        lines.amount(f"{clock.seconds:.0f} s")
    assert capsys.readouterr().err.splitlines() == ["downloading m (300 MB)", "30 s", "60 s", "90 s", "120 s", "150 s"]


def test_a_step_that_takes_minutes_is_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = PlainLines(clock)
    lines.beat()
    lines(0, 3, "warming up fused")
    for _ in range(4):
        clock.seconds += QUIET_S / 2
        lines.beat()
    lines_said = capsys.readouterr().err.splitlines()
    assert lines_said == [f"[0/3] warming up fused ({n} s)" for n in (0, 30, 60)]


def test_the_lines_go_on_beside_a_body_that_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.base.progress.QUIET_S", 0.0)
    monkeypatch.setattr("harness.base.progress.LOOK_S", 0.001)
    heard = threading.Event()
    say = PlainLines.say
    monkeypatch.setattr(
        PlainLines, "say", lambda self, line: (say(self, line), line.startswith("[1/2]") and heard.set())
    )
    with bar("a title") as progress:
        progress(1, 2, "one long step")
        heard.clear()
        assert heard.wait(10)
    assert all(thread.name != "progress" for thread in threading.enumerate())


def test_without_a_terminal_the_bar_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("a title") as progress:
        progress(0, 2, "loading m")
        progress(2, 2, "auditing streams")
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(" (")[0] for line in err.splitlines()] == [
        "[0/2] loading m",
        "[2/2] auditing streams",
    ]
    assert err.replace("\n", "").isprintable()


def test_the_rest_takes_what_the_steps_took() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.left() is None
    assert pace.step(2, 10)
    assert pace.left() is None
    clock.seconds = 8.0
    assert not pace.step(4, 10)
    assert pace.left() == 4.0 * 6
    pace.step(10, 10)
    assert pace.left() is None


def test_a_step_that_takes_longer_than_those_before_promises_nothing() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.step(0, 3)
    clock.seconds = 1.0
    pace.step(1, 3)
    assert pace.left() == 2.0
    clock.seconds = 31.0
    assert pace.left() is None
    assert pace.outlook() == ""


def test_another_phase_is_timed_anew() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.step(0, 3)
    clock.seconds = 30.0
    pace.step(1, 3)
    assert pace.step(1, 50)
    clock.seconds = 31.0
    pace.step(2, 50)
    assert pace.left() == 48.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7.4, "7 s"), (43.0, "40 s"), (99.0, "100 s"), (150.0, "2 min"), (7000.0, "2 h")],
)
def test_an_estimate_is_told_as_roughly_as_it_is_known(seconds: float, text: str) -> None:
    assert told(seconds) == text


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_on_a_terminal_the_text_gives_way_and_the_figures_stay_whole(columns: int) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=columns, force_terminal=True, color_system=None)
    with TerminalBar(MofNCompleteColumn(table_column=WHOLE), console=console) as shown:
        shown.add_task("oracle on a sample of many words, " * 4, total=1000, completed=123)
    drawn = [line for line in re.sub(r"\x1b\[[?\d]*[A-Za-z]", "", stream.getvalue()).split("\r") if line.strip()]
    assert drawn
    for line in drawn:
        assert "123/1000" in line
        assert "oracle on" in line
        assert "\N{HORIZONTAL ELLIPSIS}" in line
        assert len(line.rstrip("\n")) <= columns
