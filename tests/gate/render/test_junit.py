from xml.etree import ElementTree

from hypothesis import given

from gate.judging.judged_file import JudgedFile
from gate.render.junit import render
from tests.gate.render import samples


def parsed(*files: JudgedFile) -> ElementTree.Element:
    return ElementTree.fromstring(render(files).encode())


def test_violations_fail_headlines_pass_and_the_rest_is_skipped() -> None:
    suites = {suite.get("name"): suite for suite in parsed(*samples.every_state())}
    counts = {
        name: tuple(suite.get(key) for key in ("failures", "errors", "skipped")) for name, suite in suites.items()
    }
    assert counts["runs/withheld.json"] == ("1", "0", "1")
    assert counts["runs/invalid.json"] == ("1", "0", "0")
    assert counts["runs/gone.json"] == ("0", "1", "0")
    assert counts["runs/package.json"] == ("0", "0", "0")
    assert counts["runs/legacy.json"][:2] == ("0", "0")
    assert counts["runs/good.json"] == ("0", "0", "0")  # the oracle against itself is no headline, and not withheld
    assert any("HEADLINE" in (out.text or "") for out in suites["runs/good.json"].iter("system-out"))


def test_totals_are_sums() -> None:
    root = parsed(*samples.every_state())
    for key in ("tests", "failures", "errors", "skipped"):
        assert int(root.get(key, "")) == sum(int(suite.get(key, "")) for suite in root)
    assert int(root.get("tests", "")) == len(list(root.iter("testcase")))


def test_hostile_strings_leave_the_document_well_formed() -> None:
    (suite,) = parsed(samples.hostile())
    assert [case.find("failure") is not None for case in suite] == [True, False]
    assert not list(suite.iter("script"))


@given(samples.files())
def test_any_string_leaves_the_document_well_formed(file: JudgedFile) -> None:
    (suite,) = parsed(file)
    assert len(suite) == 2
