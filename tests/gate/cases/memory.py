"""Cases of the rules about K/V bytes, measured and by formula."""

from gate.judging.judge import conclude
from reports.records.claims import MemoryClaim
from reports.records.kv_memory import ArmMemory
from reports.report import Report
from tests.gate.cases.bases import IDENTITY, f_theta, niah
from tests.gate.edits import edit_first_row, set_first_row, set_rows
from tests.gate.rule_case import RuleCase, measured, stated

SAVING = ("kv_saving/f_theta",)
FIRST = "measurements/0.0"


def analytic(report: Report) -> Report:
    """The saving claimed by formula."""
    assert report.memory is not None
    table = next(table for table in report.memory.arms if table.arm == "f_theta")
    claims = tuple(
        claim.replace(basis="analytic", value=1 - table.total_bytes / table.full_kv_bytes, status="claimed")
        if isinstance(claim, MemoryClaim)
        else claim
        for claim in report.claims
    )
    return report.replace(claims=claims, gate=None)


def by_formula() -> Report:
    return analytic(conclude(f_theta()))


def edit_table(report: Report, name: str, **changes: object) -> Report:
    """`report` with fields of the memory table of an arm set."""
    assert report.memory is not None
    tables = tuple(table.replace(**changes) if table.arm == name else table for table in report.memory.arms)
    return report.replace(memory=report.memory.replace(arms=tables))


def table_of(report: Report, name: str) -> ArmMemory:
    assert report.memory is not None
    return next(table for table in report.memory.arms if table.arm == name)


def wider_formula(report: Report) -> Report:
    """A table of 76 positions a layer, where the run held 68."""
    layers = tuple(
        layer.replace(resident_positions=76, resident_bytes=76 * layer.bytes_per_token)
        for layer in table_of(report, "f_theta").layers
    )
    features = table_of(report, "f_theta").feature_bytes or 0
    total = sum(layer.resident_bytes for layer in layers) + features
    return edit_table(report, "f_theta", layers=layers, total_bytes=total, formula_matches_run=False)


def fewer_bytes(report: Report) -> Report:
    return edit_first_row(
        report, "oracle_again", lambda row: row.replace(kv_bytes_prefill=(row.kv_bytes_prefill or 0) - 1024)
    )


def halve_table(report: Report) -> Report:
    """The table of the control says that half its bytes were measured."""
    return edit_table(report, "ablate", measured_bytes=(table_of(report, "ablate").measured_bytes or 0) // 2)


def whole_cache(report: Report) -> Report:
    """A control that is said to have dropped what its arrays still held."""
    return set_first_row(report, "ablate", kv_bytes_prefill=report.arms[0].measurements[0].kv_bytes_prefill)


CASES: dict[str, RuleCase] = {
    "KV_BYTES_ARITHMETIC": measured(niah, whole_cache, f"arms/ablate/{FIRST}/kv_bytes_prefill"),
    "KV_BYTES_VARY": measured(niah, fewer_bytes, f"arms/oracle_again/{FIRST}/kv_bytes_prefill"),
    "BYTES_IMPOSSIBLE": measured(
        niah, lambda report: set_first_row(report, IDENTITY, peak_bytes=1000), f"arms/identity/{FIRST}/peak_bytes"
    ),
    "MEMORY_TABLE": measured(niah, halve_table, "memory/arms/ablate/measured_bytes"),
    "MEMORY_CLAIM_MISMATCH": stated(
        by_formula,
        lambda report: edit_table(report, "f_theta", formula_matches_run=False),
        "memory/arms/f_theta/formula_matches_run",
    ),
    "MEMORY_NOT_MEASURED": stated(
        by_formula,
        lambda report: set_first_row(report, "f_theta", kv_bytes_decode=None),
        f"arms/f_theta/{FIRST}/kv_bytes_decode",
    ),
    "MEMORY_ANALYTIC_GAP": measured(
        f_theta,
        wider_formula,
        "memory/arms/f_theta/layers",
        "memory/arms/f_theta/total_bytes",
        "memory/arms/f_theta/formula_matches_run",
        claims=SAVING,
    ),
    "MEMORY_PEAK_ROSE": measured(
        f_theta,
        lambda report: set_rows(report, "f_theta", peak_bytes=700_000_000),
        "arms/f_theta/measurements/*/peak_bytes",
        claims=SAVING,
    ),
}
