"""What identifies a report: the digest of what it says was run and measured, however that is written down."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic.main import IncEx

from reports.records.record import digest_of
from reports.report import Report

NAMES_AND_VERDICTS: Mapping[str, IncEx | bool] = {
    "report_id": True,
    "created_at": True,
    "claims": True,
    "gate": True,
    "imported": {"file_digest"},
}
"""What a report may be given anew without another run: a name, a date, claims, a verdict, and the bytes of the file
that it was imported from."""


def content_digest(report: Report) -> str:
    """sha256 over everything but `NAMES_AND_VERDICTS`: a copy with other white space, in the form of old files, with
    another date or judged anew is the same report; one changed figure makes it another."""
    return values_digest(report.model_dump(mode="json", exclude=NAMES_AND_VERDICTS, exclude_defaults=True))


def values_digest(values: Any) -> str:
    """sha256 over JSON values with the keys of objects sorted: whatever the file they came from looks like."""
    return digest_of(json.dumps(values, sort_keys=True, separators=(",", ":")).encode())
