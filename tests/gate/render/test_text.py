import io

import pytest
from hypothesis import given

from gate.judging.judged_file import JudgedFile
from gate.render.text import described, write
from reports.records.verdict import Violation
from tests.gate.render import samples


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(*files: JudgedFile, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    write(files, stream)
    return stream.getvalue()


def test_findings_stand_under_their_file_one_line_each() -> None:
    text = printed(samples.withheld(), samples.admissible())
    assert text.splitlines()[:3] == [
        "runs/withheld.json: withheld (k3 decode_speedup/fused, schema 2)",
        "  SPEEDUP_SAMPLES  3 samples; at least 5 [arm decode_speedup/fused field decode_speedup/fused]",
        "  WITHHELD decode_speedup/fused: SPEEDUP_SAMPLES",
    ]
    assert text.splitlines()[3].startswith("runs/good.json: admissible")
    assert any(line.startswith("  HEADLINE decode_speedup/fused_dflash = 1.") for line in text.splitlines())
    assert text.splitlines()[-1] == "2 files: 1 admissible, 1 withheld"


def test_a_withheld_figure_is_not_printed() -> None:
    assert "2.5" not in printed(samples.withheld())


def test_no_unknown_code_is_sent_to_its_explanation() -> None:
    assert "gate explain" not in printed(samples.hostile())
    assert "gate explain" not in printed(samples.admissible())


def test_every_state_has_its_word() -> None:
    text = printed(*samples.every_state())
    assert text.splitlines()[-1] == (
        "6 files: 1 admissible, 1 invalid, 1 legacy, 1 not evidence, 1 unreadable, 1 withheld"
    )
    for path, state in [("invalid", "invalid"), ("gone", "unreadable"), ("package", "not evidence")]:
        assert f"runs/{path}.json: {state}" in text


def test_no_files_are_counted_as_none() -> None:
    assert printed() == "0 files\n"


def test_found_and_allowed_are_told_once() -> None:
    violation = Violation(code="X", message="3 repeats", found="3", allowed="5", arm="fused", field="repeat")
    assert described(violation) == "3 repeats; allowed 5 [arm fused]"


def test_colour_is_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in printed(samples.withheld(), stream=Terminal())
    assert "\x1b" not in printed(samples.withheld())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(samples.withheld(), stream=Terminal())


def test_forced_colour_does_not_reach_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in printed(samples.withheld())


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_strings_reach_nobody(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    text = printed(samples.hostile(), stream=Terminal() if terminal else None)
    assert all(line.isprintable() for line in text.split("\n"))
    assert "[bold]x[/bold] :boom:" in text
    assert len(text.splitlines()) == 4


@given(samples.files())
def test_whatever_the_strings_a_finding_is_one_printable_line(file: JudgedFile) -> None:
    lines = printed(file).split("\n")
    assert len([line for line in lines if not line.startswith("`k3 gate explain ")]) == 5
    assert all(line.isprintable() for line in lines)
