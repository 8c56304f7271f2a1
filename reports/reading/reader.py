"""From a path to evidence: a file nobody vouches for becomes a report, or one line that says why not."""

import re
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from reports.file_form.form_error import FileFormError
from reports.importers.base import ForeignFormatError, Importer, Source
from reports.importers.of_plugins import importer_problems, plugin_importer_of
from reports.importers.registry import FOREIGN_KINDS, IMPORTER_NAMES, importer_of
from reports.journal import UNFINISHED, is_unfinished, journal_of
from reports.plugins.entry_points import is_plugin_id, of_group
from reports.reading.evidence import Evidence, Invalid, Legacy, NotAReport, Outcome, Unreadable
from reports.records.record import digest_of
from reports.report import (
    IMPORTED_KINDS,
    SCHEMA_VERSION,
    Kind,
    Report,
    ReportError,
    validate_document,
)
from reports.untrusted.faults import describe_invalid
from reports.untrusted.files import SUFFIXES, UNFINISHED_SUFFIX, RefusedFileError, read_bounded
from reports.untrusted.nearest import nearest
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import Json, JsonDocument, StrictJsonError, parse_foreign_numbers

OWN_SOURCE = "k3"
KINDS: tuple[str, ...] = get_args(Kind)
_JSON_NAMES = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
_TELL_TALE_KEYS = frozenset(
    {"schemaversion", "reportid", "arms", "claims", "gate", "kvquant", "stagetimings", "oraclerecall"}
)
"""Keys of reports, letters only. Other tools' files have one of them by chance; a damaged report has two."""

_TELL_TALE_TEXT = re.compile(rb'"(schema_version|report_id|kind|arms|claims|gate)"\s*:')
_NAME_NOISE = re.compile(r"[^a-z]")


def read_evidence(path: Path) -> Evidence:
    """What is in the file at `path`; whatever it holds, this does not raise."""
    if path.name.lower().endswith(UNFINISHED_SUFFIX):
        return Evidence(path, NotAReport(UNFINISHED))
    try:
        data = read_bounded(path)
    except RefusedFileError as error:
        begun = error.could_not_open and is_unfinished(path)
        message = f"is not written yet: {journal_of(path).name} beside it holds {UNFINISHED}" if begun else str(error)
        return Evidence(path, Unreadable(message, error.could_not_open))
    return evidence_of(data, path)


def evidence_of(data: bytes, path: Path) -> Evidence:
    """What the bytes of a file hold. `path` is passed on; its suffix says whether what is no JSON was meant to be."""
    digest = digest_of(data)
    try:
        document = parse_foreign_numbers(data)
    except StrictJsonError as error:
        return _not_json(data, path, str(error), digest)
    source = Source(document.value, document.lines, digest, document.no_number)
    own = not document.lines and isinstance(document.value, dict) and _looks_like_report(document.value)
    importer = importer_of(source) or (None if own else plugin_importer_of(source))
    if importer is not None:
        return _foreign(path, source, importer)
    if document.lines or not isinstance(document.value, dict):
        return Evidence(path, _not_one_object(document), digest)
    if document.no_number is not None and _looks_like_report(document.value):
        return Evidence(path, Unreadable(document.no_number, could_not_open=False), digest)
    return _own(path, document.value, data, digest)


def _not_json(data: bytes, path: Path, problem: str, digest: str) -> Evidence:
    """A log or a terminal's text of another tool; else a file of which nothing can be said."""
    source = Source(data.decode("utf-8", "replace"), lines=False, file_digest=digest, text=True)
    importer = importer_of(source) or plugin_importer_of(source)
    return _foreign(path, source, importer) if importer else Evidence(path, _no_document(data, path, problem), digest)


def _no_document(data: bytes, path: Path, problem: str) -> Outcome:
    """Damaged evidence where a report was meant to be, by its name or by the keys of one; else another kind of file."""
    if path.name.lower().endswith(SUFFIXES) or len({*_TELL_TALE_TEXT.findall(data)}) > 1:
        return Unreadable(problem, could_not_open=False)
    return NotAReport(problem)


def _not_one_object(document: JsonDocument) -> Outcome:
    """A list or JSONL that no importer knows: reports do not travel in bundles."""
    values = document.value if isinstance(document.value, list) else []
    if any(isinstance(value, dict) and _looks_like_report(value) for value in values):
        return Invalid("document: several documents in one file; a report is one JSON object")
    if document.lines:
        return NotAReport("JSON Lines of a format that no importer knows")
    return NotAReport(f"a report is one JSON object; this is {_JSON_NAMES.get(type(document.value), 'something else')}")


def _foreign(path: Path, source: Source, importer: Importer) -> Evidence:
    stated = source.value if isinstance(source.value, dict) else {}
    version = stated.get("schema_version")
    kind = _text(stated.get("kind"))
    outcome: Outcome
    problem = _version_problem(version) if "schema_version" in stated and version is not None else None
    if problem is not None:
        outcome, version = Invalid(problem), None
    else:
        legacy = importer.versioned and (version is None or version < SCHEMA_VERSION)
        try:
            report = _load(source, importer)
            kind = kind or report.kind
            outcome = Legacy(report) if legacy else report
        except ForeignFormatError as error:
            outcome = Legacy(None, str(error)) if legacy else Invalid(str(error))
    return Evidence(path, outcome, source.file_digest, importer.name, kind, version)


def _load(source: Source, importer: Importer) -> Report:
    """`importer.load`, with values that fit no record (an overlong name, a sum beyond 2**53) as its own error."""
    try:
        return importer.load(source)
    except ValidationError as error:
        raise ForeignFormatError(describe_invalid(error)) from error


def _own(path: Path, value: dict[str, Json], data: bytes, digest: str) -> Evidence:
    kind, version = value.get("kind"), value.get("schema_version")
    if not _looks_like_report(value):
        return Evidence(path, NotAReport("JSON with none of the keys of a report, and no importer knows it"), digest)
    problem = _version_problem(version) or _kind_problem(kind)
    number = version if type(version) is int else None
    if problem is not None:
        return Evidence(path, Invalid(problem), digest, None, _text(kind), number)
    if number is not None and number < SCHEMA_VERSION:
        return Evidence(path, Legacy(None), digest, OWN_SOURCE, kind, number)
    try:
        report = validate_document(value, data)
    except FileFormError as error:
        return Evidence(path, Invalid(one_line(str(error))), digest, OWN_SOURCE, kind, number)
    except ValidationError as error:
        return Evidence(path, Invalid(describe_invalid(error)), digest, OWN_SOURCE, kind, number)
    source, outcome = _origin(report)
    return Evidence(path, outcome, digest, source, kind, number)


def _origin(report: Report) -> tuple[str, Outcome]:
    """Who made a valid report: K3, an importer that K3 has, or one of a plug-in, which may not be here."""
    if report.imported is None:
        if report.kind in IMPORTED_KINDS:
            return OWN_SOURCE, Invalid(f"kind: {report.kind} is never run by K3; such a report must be imported")
        return OWN_SOURCE, report
    importer = report.imported.importer
    if importer not in IMPORTER_NAMES and not is_plugin_id(importer):
        return OWN_SOURCE, Invalid(f"imported.importer: no importer is called '{one_line(importer, 80)}'")
    return importer, report


def _version_problem(version: Json) -> str | None:
    if version is None:
        return f"schema_version: missing; it must be {SCHEMA_VERSION}"
    if type(version) is not int:
        return f"schema_version: must be an integer, not {one_line(repr(version), 40)}"
    if version > SCHEMA_VERSION:
        newer = one_line(str(version), 24)
        return f"schema_version: written by a newer schema {newer}; upgrade K3, which reads up to {SCHEMA_VERSION}"
    return None


def _kind_problem(kind: Json) -> str | None:
    if isinstance(kind, str) and kind in KINDS:
        return None
    if kind is None:
        return "kind: missing"
    near = nearest(kind, (*KINDS, *FOREIGN_KINDS)) if isinstance(kind, str) else None
    hint = f"; did you mean {near!r}?" if near is not None else f"; known kinds: {', '.join(KINDS)}"
    return f"kind: {one_line(repr(kind), 80)} is unknown{hint}"


def _looks_like_report(value: dict[str, Json]) -> bool:
    """It has two things that only reports have, however spelt, or a kind of the predecessor's: a file to judge."""
    kind = value.get("kind")
    keys = {_NAME_NOISE.sub("", key.lower()) for key in value if len(key) < 80}
    if len(keys & _TELL_TALE_KEYS) + (isinstance(kind, str) and kind in KINDS) > 1:
        return True
    return isinstance(kind, str) and nearest(kind, FOREIGN_KINDS, cutoff=0.8) is not None


def _text(value: Json) -> str | None:
    return one_line(value, 200) if isinstance(value, str) else None


def import_report(path: Path) -> Report:
    """Another tool's file as a schema-2 report, marked as imported; a file of schema 1 too, read as schema 2.

    Raises:
        ReportError: unreadable, invalid, no report, or a report of our own already; one line with the path.
    """
    evidence = read_evidence(path)
    if evidence.report is not None and evidence.report.imported is not None:
        return evidence.report
    raise ReportError(f"{path}: {_why_not(evidence)}")


def _why_not(evidence: Evidence) -> str:
    match evidence.outcome:
        case Report():
            return "is a report of K3 already; nothing to import"
        case Legacy(problem=problem):
            return problem or "no importer knows this schema"
        case NotAReport(reason=reason):
            known = [*sorted(IMPORTER_NAMES), *(plugin.id for plugin in of_group("importers"))]
            return "; ".join([f"no known format ({reason}); importers: {', '.join(known)}", *importer_problems()])
        case Unreadable(message=message) | Invalid(message=message):
            return message
