import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.page.html import page
from gate.rulebook.claim_kinds import CLAIM_KINDS
from reports.reading import Evidence
from reports.report import Report
from tests.gate.honest import honest_code, honest_kv_quant, honest_niah, honest_parity
from tests.gate.render.samples import HOSTILE, honest_report

VOID = {"meta", "br", "hr", "img", "link"}


class Outline(HTMLParser):
    """Checks that tags nest, and collects them with their attributes and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def judged(report: Report) -> JudgedFile:
    return judge_evidence(Evidence(Path("x.json"), report, None, "k3", report.kind, 2))


def outline(report: Report) -> Outline:
    return Outline(page(report, judged(report)))


@pytest.mark.parametrize("build", [honest_code, honest_niah, honest_parity, honest_kv_quant])
def test_a_page_of_every_kind_nests_and_names_the_verdict(build: type) -> None:
    report = build()
    found = outline(report)
    assert found.tags.count("h1") == 1
    assert "admissible" in found.text
    assert [report.report_id] == [text for text in found.text if text == report.report_id][:1]


def test_the_page_needs_nothing_from_elsewhere() -> None:
    found = outline(honest_report())
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    assert not {"src", "href", "srcset"} & {name for name, _ in found.attributes}
    assert not re.search(r"https?:|url\(|@import", page(honest_report(), judged(honest_report())))


def test_tables_are_accessible() -> None:
    text = page(honest_report(), judged(honest_report()))
    found = Outline(text)
    assert ("lang", "en") in found.attributes
    assert found.tags.count("caption") == found.tags.count("table")
    assert found.tags.count("th") == len(re.findall('<th scope="', text))


def test_claims_arms_and_rows_are_there() -> None:
    report = honest_report()
    text = " ".join(outline(report).text)
    assert "HEADLINE decode_speedup/fused_dflash = 1." in text
    for arm in report.arms:
        assert f"{arm.name}: 18 rows" in text


def test_violations_come_with_their_explanation() -> None:
    report = honest_report()
    doctored = report.replace(claims=tuple(claim.replace(value=50.0) for claim in report.claims))
    text = " ".join(outline(doctored).text)
    assert "About CLAIM_NOT_REPRODUCIBLE" in text
    assert "HEADLINE" not in text
    assert "WITHHELD decode_speedup/fused_dflash" in text


def test_hostile_strings_are_text() -> None:
    report = honest_niah()
    arm = report.arms[0]
    row = arm.measurements[0].replace(text=HOSTILE)
    hostile = report.replace(arms=(arm.replace(name=HOSTILE[:200], engine=HOSTILE[:200], measurements=(row,)),))
    found = outline(hostile)
    assert not {"script", "img", "bold"} & set(found.tags)
    assert not {"onerror", "src"} & {name for name, _ in found.attributes}
    assert any("<script>alert('1')</script>" in text for text in found.text)
    assert not any("\x1b" in text or "\u202e" in text for text in found.text)


def test_claims_and_codes_are_explained_on_the_page_without_a_script() -> None:
    found = outline(honest_niah())
    claims = judged(honest_niah()).claims
    told = " ".join(found.text)
    for claim in claims:
        assert CLAIM_KINDS[claim.metric].asserts in told
        for code in claim.withheld_by:
            rule = find_rule(code)
            assert rule is not None
            assert rule.catches in told
    assert "script" not in found.tags
    assert not any(name.startswith("on") for name, _ in found.attributes)
