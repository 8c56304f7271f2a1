"""`k3 report table`: ratios of several reports, pooled; only what the gate admits."""

import csv
import io
import math
import shutil
from pathlib import Path

import pytest
from scipy import stats

from gate.claims.against_baseline import ratio_of
from gate.rulebook.report_view import ReportView
from harness.cli import run
from reports.report import Report, load_report, write_report
from tests.gate.edits import edit_rows

EVIDENCE = Path(__file__).resolve().parents[4] / "reports" / "evidence" / "demo-code-tiny.json"


def on_machine(label: str, folder: Path) -> Report:
    """The committed report as if another machine had made it, whose clocks read a few nanoseconds more."""
    report = load_report(EVIDENCE)
    assert report.provenance is not None
    assert report.provenance.host is not None
    host = report.provenance.host.replace(label=label)
    moved = report.replace(provenance=report.provenance.replace(host=host))
    later = ord(label) * 1e-9
    for arm in report.arms:
        moved = edit_rows(
            moved,
            arm.name,
            lambda row: row.replace(
                prefill_s=round((row.prefill_s or 0.0) + later, 9), e2e_s=round((row.e2e_s or 0.0) + later, 9)
            ),
        )
    shutil.copy(EVIDENCE.with_name("demo-parity-tiny-recorded.json"), folder)
    write_report(moved, folder / f"{label}.json")
    return moved


def rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert run(["report", "table", "--pooled", "--format", "csv", str(folder)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_three_machines_pool_as_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, *_ = [on_machine(label, tmp_path) for label in ("a", "b", "c")]
    (tmp_path / "twice.json").write_bytes((tmp_path / "a.json").read_bytes())
    found = [row for row in rows(tmp_path, capsys) if row["claim"] == "decode_speedup/fused"]
    assert [row["machine"] for row in found] == ["a", "b", "c", "over machines"]
    assert [row["runs"] for row in found] == ["1", "1", "1", "3"]
    (claim,) = (claim for claim in report.claims if claim.name == "decode_speedup/fused")
    assert claim.interval is not None
    assert float(found[0]["ratio"]) == pytest.approx(claim.value)
    assert (float(found[0]["low"]), float(found[0]["high"])) == pytest.approx((claim.interval.low, claim.interval.high))
    # Equal machines that ran the same prompts: the error of one, with Student's t of two degrees of freedom.
    assert float(found[3]["ratio"]) == pytest.approx(claim.value)
    view = ReportView(report)
    estimate = ratio_of(view, view.arms["fused"], view.arms["oracle"], "decode_speedup")
    assert estimate is not None
    half = stats.t.ppf(0.975, 2) * estimate.error
    assert math.log(float(found[3]["high"]) / claim.value) == pytest.approx(half)


def test_what_is_withheld_does_not_pool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = on_machine("a", tmp_path)
    claims = tuple(claim.replace(status="withheld", withheld_by=("SPEEDUP_INTERVAL",)) for claim in report.claims)
    write_report(report.replace(claims=claims, gate=None), tmp_path / "a.json")
    assert [row for row in rows(tmp_path, capsys) if "speedup" in row["claim"]] == []


def test_the_pooled_table_follows_that_of_arms_where_something_pools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_machine("a", tmp_path)
    assert run(["report", "table", str(tmp_path)]) == 0
    alone = capsys.readouterr().out
    assert "tau2" not in alone
    on_machine("b", tmp_path)
    assert run(["report", "table", str(tmp_path)]) == 0
    both = capsys.readouterr().out
    assert "| over machines | 2 |" in both
