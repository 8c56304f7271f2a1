"""Reports of a projecting arm, its K/V table and its claim, for the rules of memory."""

from reports.records.claims import MemoryClaim
from reports.report import Report
from tests.gate.cases.bases import f_theta
from tests.gate.edits import edit_rows

CLAIM = "kv_saving/f_theta"


def table(report: Report, **changes: object) -> Report:
    """The table of the projecting arm edited."""
    assert report.memory is not None
    tables = tuple(one.replace(**changes) if one.arm == "f_theta" else one for one in report.memory.arms)
    return report.replace(memory=report.memory.replace(arms=tables))


def measured(factor: float) -> Report:
    """K/V bytes at the end of prefill, scaled."""
    return edit_rows(
        f_theta(), "f_theta", lambda row: row.replace(kv_bytes_prefill=round((row.kv_bytes_prefill or 0) * factor))
    )


def by_formula(report: Report) -> Report:
    """The saving claimed by formula."""
    claim = MemoryClaim(
        name=CLAIM, metric="kv_saving", value=0.9, arm="f_theta", baseline="oracle", status="claimed", basis="analytic"
    )
    return report.replace(claims=(claim,))
