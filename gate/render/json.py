"""The machine-readable listing of `k3 gate check --format json`."""

import json
from collections.abc import Sequence
from typing import Any

from gate.judging.judged_file import JudgedFile
from reports.records.verdict import Violation

_PLACES = ("arm", "sample", "field", "found", "allowed")


def render(files: Sequence[JudgedFile]) -> str:
    """One JSON array in ASCII, an object a file, in the order given; every object has the same keys."""
    return json.dumps([document(file) for file in files], indent=1, allow_nan=False) + "\n"


def document(file: JudgedFile) -> dict[str, Any]:
    """One judged file as JSON values."""
    return {
        "path": file.path,
        "source": file.source,
        "kind": file.kind,
        "schema_version": file.schema_version,
        "verdict": file.verdict,
        "violations": [_violation(violation) for violation in file.violations],
        "claims": [
            {"name": claim.name, "value": claim.value, "status": claim.status, "withheld_by": list(claim.withheld_by)}
            for claim in file.claims
        ],
        "reasons": [reason.model_dump() for reason in file.reasons],
    }


def _violation(violation: Violation) -> dict[str, Any]:
    places = {name: getattr(violation, name) for name in _PLACES if getattr(violation, name) is not None}
    return {"code": violation.code, "message": violation.message, "claims": list(violation.claims), **places}
