"""What two runs of one plan share, however often one of them was interrupted."""

from typing import Any

from reports.report import Report

OF_ONE_RUN = frozenset(
    {
        "report_id",
        "created_at",
        "claims",
        "gate",
        "argv",
        "resumes",
        "warm_ups",
        "machine",
        "peak_bytes",
        "seconds",
        "run_ledger",
    }
)


def timeless(report: Report) -> Any:
    """The report without times, names, memory, claims, and that it was interrupted."""
    return _without(report.model_dump(mode="json"))


def _without(node: Any) -> Any:
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if key not in OF_ONE_RUN and not key.endswith("_s")}
        return {key: _without(value) for key, value in kept.items()}
    return [_without(value) for value in node] if isinstance(node, list) else node
