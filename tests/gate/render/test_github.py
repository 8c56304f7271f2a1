import re

from hypothesis import given

from gate.judging.judged_file import JudgedFile
from gate.render.github import SUMMARY_LIMIT, annotations, summary
from tests.gate.render import samples

COMMAND = re.compile(r"::(error|warning) file=([^,:\n]*),title=([^,:\n]*)::([^\n]*)")


def test_a_violation_is_one_workflow_command() -> None:
    lines = annotations(samples.every_state()).splitlines()
    found = [COMMAND.fullmatch(line) for line in lines]
    assert [(match[1], match[2]) for match in found if match] == [
        ("error", "runs/invalid.json"),
        ("warning", "runs/legacy.json"),
        ("error", "runs/gone.json"),
        ("error", "runs/withheld.json"),
    ]


def test_percent_colon_and_comma_are_escaped() -> None:
    (line,) = annotations([samples.named("a,b:c%.json", "X", "50 %: no", "c")]).splitlines()
    assert "file=a%2Cb%3Ac%25.json,title=X::50 %25: no" in line


@given(samples.files())
def test_no_string_can_forge_a_command(file: JudgedFile) -> None:
    for line in annotations([file, samples.hostile()]).split("\n")[:-1]:
        assert COMMAND.fullmatch(line)
        assert line.isprintable()


def test_the_summary_lists_files_and_what_may_be_said() -> None:
    text = summary(samples.every_state())
    assert "| runs/withheld.json | withheld | 1 | 0 | 1 |" in text
    assert "- **SPEEDUP\\_SAMPLES** 3 samples; at least 5" in text
    assert "- HEADLINE decode\\_speedup/fused\\_dflash = 1." in text
    assert "- WITHHELD decode\\_speedup/fused\\: SPEEDUP\\_SAMPLES" in text


def test_hostile_strings_make_no_markup() -> None:
    text = summary([samples.hostile()])
    assert "<script" not in text
    assert "<img" not in text
    assert re.search(r"(?<!\\)[`*\[\]]", text.replace("- **", "- ").replace("** ", " ")) is None
    assert "http://" not in text
    rows = [line for line in text.splitlines() if line.startswith("| a")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [6]


def test_a_long_summary_stays_under_the_limit() -> None:
    text = summary([samples.named(f"{number}.json", "X", "m" * 900, "c") for number in range(2000)])
    assert len(text.encode()) < SUMMARY_LIMIT
    assert "the rest did not fit" in text
