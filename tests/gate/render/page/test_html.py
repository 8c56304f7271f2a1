import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.page.html import Entry, Paged, index, page, side_by_side
from gate.render.page.rows import ROW_COLUMNS, shown_arms
from gate.render.withheld import Withheld
from gate.rulebook.claim_kinds import CLAIM_KINDS
from reports.reading.evidence import Evidence
from reports.report import Report
from tests.gate.honest import Setup, honest_code, honest_kv_quant, honest_niah, honest_parity
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


def paged(report: Report, title: str = "A title") -> Paged:
    return Paged(title, report, judged(report))


def outline(report: Report) -> Outline:
    return Outline(page(paged(report)))


@pytest.mark.parametrize("build", [honest_code, honest_niah, honest_parity, honest_kv_quant])
def test_a_page_of_every_kind_nests_and_names_the_verdict(build: type) -> None:
    report = build()
    found = outline(report)
    assert found.tags.count("h1") == 1
    assert "admissible" in found.text
    assert found.text.count(report.report_id) >= 1
    assert [found.tags.count(tag) for tag in ("header", "main", "footer")] == [1, 1, 1]


def test_the_page_needs_nothing_from_elsewhere() -> None:
    found = outline(honest_report())
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    assert not {"src", "srcset"} & {name for name, _ in found.attributes}
    assert all((value or "").startswith("#") for name, value in found.attributes if name == "href")
    text = (
        page(paged(honest_report()))
        .replace("http://www.w3.org/2000/svg", "")
        .replace("http://www.w3.org/1999/xlink", "")
    )
    assert not re.search(r"https?:|url\((?!#)|@import", text)


def test_the_page_says_first_what_may_be_quoted() -> None:
    text = page(paged(honest_report()))
    assert (
        text.index("A title")
        < text.index("fused_dflash was 1.")
        < text.index("<h2>Pictures")
        < text.index("<h2>Claims")
    )


def test_ids_are_told_apart() -> None:
    for text in (page(paged(honest_report())), side_by_side(paged(honest_report()), paged(honest_report()))):
        ids = re.findall(r' id="([^"]*)"', text)
        assert len(ids) > 50
        assert len(ids) == len(set(ids))


def test_drafts_are_marked_and_what_leaves_the_oracle() -> None:
    report = honest_report()
    arm = report.arms[-1]
    row = arm.measurements[0].replace(text="altogether different")
    other = report.replace(arms=(*report.arms[:-1], arm.replace(measurements=(row, *arm.measurements[1:]))))
    text = page(paged(other))
    assert re.search(r"<mark>[\d ]+</mark>", text)
    assert '<span class="odd">altogether different</span>' in text


def test_two_reports_stand_side_by_side() -> None:
    found = Outline(side_by_side(paged(honest_code(), "One"), paged(honest_niah(), "Other")))
    assert found.tags.count("h2") == 3
    assert {"One", "Other", "Setting, figures and claims"} <= set(found.text)
    assert "What differs" in found.text


def test_an_index_names_every_report() -> None:
    said = tuple(f"Said {number}." for number in range(9))
    held = (Withheld("the speed of fused", "why", "change", ()),)
    entry = Entry("A title", "runs/x.json", "000-x.html", "admissible", ("k3-tiny",), said, "Nothing.", held)
    text = index([entry, entry], [judged(honest_code())])
    assert Outline(text).tags.count("a") == 2
    assert all(text.count(sentence) == 2 for sentence in (*said, "the speed of fused", "k3-tiny"))


def test_tables_are_accessible() -> None:
    text = page(paged(honest_report()))
    found = Outline(text)
    assert ("lang", "en") in found.attributes
    assert found.tags.count("caption") == found.tags.count("table")
    assert found.tags.count("th") == len(re.findall('<th scope="', text))


def test_claims_arms_and_rows_are_there() -> None:
    report = honest_report()
    text = " ".join(outline(report).text)
    assert "decode_speedup/fused_dflash" in text
    assert "on 6 prompts of 6 kinds in 1 process" in text
    for arm in report.arms:
        assert f"{arm.name}: 18 rows" in text


def test_violations_come_with_their_explanation() -> None:
    report = honest_report()
    doctored = report.replace(claims=tuple(claim.replace(value=50.0) for claim in report.claims))
    text = " ".join(outline(doctored).text)
    assert "About CLAIM_NOT_REPRODUCIBLE" in text
    assert "times as fast" not in text.replace("How many times as fast", "")
    assert "Nothing may be quoted from this report: its evidence is broken." in text


def test_what_stands_in_the_way_is_told_once_and_whole() -> None:
    report = honest_code(Setup(samples=3, repeats=1, draft_arms=("dflash", "ngram")))
    file = judged(report)
    found = Outline(page(paged(report)))
    ids = {value for name, value in found.attributes if name == "id"}
    links = [value or "" for name, value in found.attributes if name == "href" and not (value or "").startswith("#p")]
    assert links
    assert {link.removeprefix("#") for link in links} <= ids
    for reason in file.reasons:
        assert reason.findings
        assert "more like these)" not in " ".join(reason.findings)
        for finding in reason.findings:
            assert finding in found.text


def test_the_top_names_model_machine_date_and_what_was_changed() -> None:
    report = honest_code()
    assert report.provenance is not None
    assert report.provenance.host is not None
    assert report.preset is not None
    report = report.replace(preset=report.preset.replace(overrides=("model=mine", "samples=3")))
    text = page(paged(report))
    top = text[: text.index("<h2>")]
    (model,) = [one for one in report.provenance.models if one.role == "verifier"]
    assert report.created_at is not None
    for expected in (model.id, report.provenance.host.os, f"{report.created_at:%Y-%m-%d}", "model=mine samples=3"):
        assert expected in top


def test_a_row_names_its_process() -> None:
    report = honest_code()
    place = ROW_COLUMNS.index("process")
    for arm, shown in zip(report.arms, shown_arms(report), strict=True):
        cells = [row.cells for row in shown.rows]
        assert [cell[place] for cell in cells] == [str(row.process) for row in arm.measurements]
        assert {len(cell) for cell in cells} == {len(ROW_COLUMNS)}


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
