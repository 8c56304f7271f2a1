"""Whatever text a file holds, in whichever field: no format passes on markup, commands, formulas or control codes."""

import csv
import io
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gate.judging.judge_evidence import judge_evidence
from gate.judging.rule_set import find_rule
from gate.render import github, junit, sarif
from gate.render import json as as_json
from gate.render.page.html import Paged, page
from gate.render.tables.show import show
from gate.render.text import write
from harness.commands.report.table import read_tables
from reports.reading.evidence import Evidence
from reports.report import Report, report_bytes
from tests.gate.honest import Setup, honest_code, honest_kv_quant, honest_niah

SNIPPETS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg></td><!--",
    "{{ 7 * 7 }}{% include 'x' %}",
    "\x1b[31m\x1b]0;t\x07",
    "\n::error file=x::forged\r",
    "=HYPERLINK(1)",
    "@SUM(1)",
    "$\\frac{1}{$",
    "]]><x>&amp;",
    "[a](javascript:x) `c` |",
    "\u202e\u0085\u2028\x9b",
    "${{ secrets.TOKEN }}",
)
SMALL = Setup(samples=2, repeats=1, draft_arms=("dflash",))
REPORTS = {"code": honest_code(SMALL), "niah": honest_niah(SMALL), "kv_quant": honest_kv_quant(SMALL)}

Place = tuple[str, ...]


def places(value: Any, at: Place = ()) -> set[Place]:
    """Every place of a document that holds text, items of a list being one."""
    if isinstance(value, dict):
        return {place for key, inner in value.items() for place in places(inner, (*at, key))}
    if isinstance(value, list):
        return {place for inner in value for place in places(inner, (*at, "*"))}
    return {at} if isinstance(value, str) else set()


def replaced(value: Any, chosen: set[Place], text: str, at: Place = ()) -> Any:
    """A copy of a document with `text` before what stands at the chosen places."""
    if isinstance(value, dict):
        return {key: replaced(inner, chosen, text, (*at, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, chosen, text, (*at, "*")) for inner in value]
    return (text + value)[:200] if at in chosen else value


def free(report: Report) -> set[Place]:
    """The places that take any text."""
    document = report.model_dump(mode="json", exclude_none=True)
    found = set()
    for place in places(document):
        try:
            Report.model_validate_json(json.dumps(replaced(document, {place}, "<b>")))
        except ValidationError:
            continue
        found.add(place)
    return found


FREE = {name: free(report) for name, report in REPORTS.items()}


class Tags(HTMLParser):
    """The tags and attributes of a page, which must nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "a":  # a code, which leads to what it stands for on the same page
            assert all(find_rule((value or "").removeprefix("#")) for name, value in attrs if name == "href")
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shapes(text: str) -> tuple[set[str], set[str]]:
    found = Tags(text)
    return found.tags, found.attributes


@cache
def plain_attributes(name: str) -> set[str]:
    """The attributes on the page of the report as it was."""
    report = REPORTS[name]
    return shapes(page(Paged("x", report, judge_evidence(Evidence(Path("x.json"), report)))))[1]


def test_names_of_nearly_everything_are_free_text() -> None:
    for name in ("code", "niah"):
        assert {("arms", "*", "name"), ("arms", "*", "engine"), ("claims", "*", "name"), ("preset", "name")} <= FREE[
            name
        ]
    assert ("kv_quant", "arms", "*", "name") in FREE["kv_quant"]


@pytest.mark.parametrize("name", REPORTS)
@settings(max_examples=5, deadline=None)
@given(text=st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=40)), title=st.sampled_from(SNIPPETS))
def test_no_format_passes_it_on(name: str, text: str, title: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    document = REPORTS[name].model_dump(mode="json", exclude_none=True)
    try:
        report = Report.model_validate_json(json.dumps(replaced(document, FREE[name], text)))
    except ValidationError:  # lone surrogates: no file holds them
        return
    file = judge_evidence(Evidence(Path(f"runs/{title}.json"), report, None, text, text[:50], 2))

    tags, attributes = shapes(page(Paged(title, report, file)))
    assert not tags & {"script", "img", "b", "x", "iframe", "object", "base", "form"}
    assert attributes - {"href"} <= plain_attributes(name)
    assert not any(attribute.startswith("on") for attribute in attributes)

    for verbose in (True, False):
        stream = io.StringIO()
        show(report, file, stream, verbose=verbose)
        write([file], stream)
        assert all(line.isprintable() for line in stream.getvalue().split("\n"))

    commands = github.annotations([file]).split("\n")[:-1]
    assert len(commands) == len(file.violations)
    assert all(re.match(r"::(error|warning) file=[^:,\n]*,title=[^:,\n]*::", line) for line in commands)
    assert not re.search(r"(?<!\\)[`\[]|<(?!br>)", github.summary([file]).replace("| --- |", ""))

    assert {element.tag for element in ElementTree.fromstring(junit.render([file])).iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "skipped", "error", "system-out",
    }  # fmt: skip
    assert len(json.loads(sarif.render([file], Path()))["runs"][0]["results"]) == len(file.violations)
    assert json.loads(as_json.render([file]))[0]["verdict"] == file.verdict

    path = tmp_path_factory.mktemp("table") / "x.json"
    path.write_bytes(report_bytes(report))
    table, _, _ = read_tables([path])
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))]
    assert "<" not in table.markdown()
