"""JUnit XML: a suite a file, a failed case a violation, a passed case a headline, a skipped one what is withheld."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from gate.judging.judged_file import WARNINGS, JudgedFile
from gate.render.headline import headline_line, withheld_line
from gate.render.text import described
from reports.records.verdict import Violation
from reports.untrusted.one_line import one_line

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def render(files: Sequence[JudgedFile]) -> str:
    """A well-formed document, whatever the strings in the reports are; counts are given for every suite and in all."""
    root = ElementTree.Element("testsuites", name="k3 gate check")
    for file in files:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(one_line(file.path, 1000)))
        _cases(suite, file)
        _count(suite, [suite])
    _count(root, list(root))
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _cases(suite: ElementTree.Element, file: JudgedFile) -> None:
    for violation in file.violations:
        _violation(suite, file, violation)
    for admitted in file.headlines:
        case = _case(suite, file, admitted.claim.name)
        ElementTree.SubElement(case, "system-out").text = _xml(headline_line(admitted))
    for claim in file.withheld:
        case = _case(suite, file, claim.name)
        ElementTree.SubElement(case, "skipped", message=_xml(withheld_line(claim)))
    if len(suite) == 0:
        _case(suite, file, file.state)


def _violation(suite: ElementTree.Element, file: JudgedFile, violation: Violation) -> None:
    case = _case(suite, file, violation.code)
    text = _xml(described(violation))
    if not file.opened:
        ElementTree.SubElement(case, "error", message=text, type=_xml(violation.code)).text = text
    elif violation.code in WARNINGS:
        ElementTree.SubElement(case, "skipped", message=text)
    else:
        ElementTree.SubElement(case, "failure", message=text, type=_xml(violation.code)).text = text


def _case(suite: ElementTree.Element, file: JudgedFile, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=_xml(one_line(file.path, 1000)), name=_xml(one_line(name)), time="0"
    )


def _count(element: ElementTree.Element, suites: list[ElementTree.Element]) -> None:
    cases = [case for suite in suites for case in suite.iter("testcase")]
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
