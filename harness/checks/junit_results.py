"""Results of a test run: JUnit XML as pytest and others write it, and coverage.py's JSON. Both are hostile files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from pydantic import ValidationError

from harness.base.errors import CannotRunError
from reports.records.conduct.platform_tests import FileCoverage, PlatformTests, TestCase
from reports.records.record import digest_of
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import RefusedFileError, read_bounded
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import StrictJsonError, parse

OUTCOMES = {"failure": "failed", "error": "error", "skipped": "skipped"}
"""Elements of a case that did not pass, and what each says of it; the first that is there counts."""
COUNTS = ("tests", "failures", "errors", "skipped")
COMMIT, COMMAND = "git_commit", "command"
"""Properties of a suite: the commit that was tested, and what ran the tests."""
MOST_CASES = 100_000
NAME, REASON = 1000, 300
_DECLARES = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


def read_results(
    paths: Sequence[Path], coverage: Path | None, command: str | None, commit: str | None
) -> PlatformTests:
    """One test run from its result files; `command` and `commit` stand in where the files do not tell.

    Raises:
        CannotRunError: a file cannot be read, is no JUnit XML or no coverage JSON, or contradicts another file.
    """
    suites: list[ElementTree.Element] = []
    digests: list[str] = []
    for path in paths:
        data = _read(path)
        digests.append(digest_of(data))
        suites += _suites(path, data)
    cases = [case for suite in suites for case in suite.iter("testcase")]
    if len(cases) > MOST_CASES:
        raise CannotRunError(f"{paths[0]}: {len(cases)} cases; {MOST_CASES} can be read")
    told = {name: _property(suites, name) for name in (COMMIT, COMMAND)}
    values = {
        "suite": " ".join(dict.fromkeys(suite.get("name") or "tests" for suite in suites))[:NAME] or "tests",
        "command": told[COMMAND] or command,
        "git_commit": told[COMMIT] or commit,
        "results": tuple(digests),
        **{name: sum(_count(suite, name) for suite in suites) for name in COUNTS},
    }
    try:
        return PlatformTests.model_validate(
            values | {"cases": tuple(map(_case, cases)), "coverage": _coverage(coverage) if coverage else None}
        )
    except ValidationError as error:
        raise CannotRunError(f"{paths[0]}: {describe_invalid(error)}") from error


def _suites(path: Path, data: bytes) -> Iterator[ElementTree.Element]:
    """The innermost suites, which count their own cases; no entity is ever expanded, since none may be declared."""
    if _DECLARES.search(data):
        raise CannotRunError(f"{path}: declares a document type or an entity, which results have no use for")
    try:
        # As text: what the file says of its encoding does not count, in another one of which it could hide an entity.
        root = ElementTree.fromstring(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CannotRunError(f"{path}: no XML in UTF-8") from error
    except ElementTree.ParseError as error:
        raise CannotRunError(f"{path}: no XML: {error}") from error
    if root.tag not in ("testsuites", "testsuite"):
        raise CannotRunError(f"{path}: no JUnit results: its root is {one_line(root.tag, 80)}, not testsuites")
    for suite in root.iter("testsuite"):
        if suite.find("testsuite") is None:
            yield suite


def _case(element: ElementTree.Element) -> TestCase:
    found = next((element.find(tag) for tag in OUTCOMES if element.find(tag) is not None), None)
    where = element.get("classname") or element.get("file")
    name = "::".join(part for part in (where, element.get("name")) if part) or "unnamed"
    reason = one_line(found.get("message") or found.text or "", REASON) if found is not None else ""
    return TestCase.model_validate(
        {
            "name": one_line(name, NAME),
            "outcome": OUTCOMES[found.tag] if found is not None else "passed",
            "seconds": _seconds(element.get("time")),
            "reason": reason or None,
        }
    )


def _seconds(text: str | None) -> float | None:
    try:
        return float(text.replace(",", "")) if text else None
    except ValueError:
        return None


def _count(suite: ElementTree.Element, name: str) -> int:
    text = suite.get(name) or "0"
    if not text.isdecimal() or len(text) > 9:
        raise CannotRunError(f"testsuite.{name}: {one_line(text, 40)!r} is no count")
    return int(text)


def _property(suites: Iterable[ElementTree.Element], name: str) -> str | None:
    """What all suites that tell it tell alike.

    Raises:
        CannotRunError: they tell different things, so they are no one run.
    """
    told = {
        value
        for suite in suites
        for one in suite.iter("property")
        if one.get("name") == name and (value := one.get("value"))
    }
    if len(told) > 1:
        shown = ", ".join(one_line(value, 40) for value in sorted(told))
        raise CannotRunError(f"property {name}: the results tell {shown}; give results of one run")
    return next(iter(told), None)


def _coverage(path: Path) -> tuple[FileCoverage, ...]:
    """Lines a file, of what `coverage json` writes."""
    try:
        document = parse(_read(path)).value
    except StrictJsonError as error:
        raise CannotRunError(f"{path}: {error}") from error
    files = document.get("files") if isinstance(document, dict) else None
    if not isinstance(files, dict):
        raise CannotRunError(f"{path}: no `files`; write it with `coverage json`")
    rows = []
    for name, file in files.items():
        summary = file.get("summary") if isinstance(file, dict) else None
        if not isinstance(summary, dict):
            raise CannotRunError(f"{path}: files.{one_line(name, 80)}: no `summary`")
        values = {"file": name, "lines": summary.get("num_statements"), "covered": summary.get("covered_lines")}
        rows.append(FileCoverage.model_validate(values))
    return tuple(rows)


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path)
    except RefusedFileError as error:
        raise CannotRunError(f"{path}: {error}") from error
