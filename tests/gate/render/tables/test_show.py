import io
from pathlib import Path

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.render.tables.arm_summary import summarise
from gate.render.tables.cells import COLUMNS, cells
from gate.render.tables.show import differences, flat, show
from reports.reading.evidence import Evidence
from reports.report import Report
from tests.gate.honest import Setup, honest_code, honest_niah, measured_niah
from tests.gate.render.samples import HOSTILE


def judged(report: Report) -> JudgedFile:
    return judge_evidence(Evidence(Path("x.json"), report, None, "k3", report.kind, 2))


def shown(report: Report) -> str:
    stream = io.StringIO()
    show(report, judged(report), stream)
    return stream.getvalue()


def test_a_report_is_shown_with_its_arms_and_headlines() -> None:
    text = shown(honest_niah())
    for expected in ("report id", "commit", "verifier 0", "oracle_again", "6/6", "0/6", "identity found 6 of 6"):
        assert expected in text
    assert "\x1b" not in text


def test_a_ratio_that_is_not_admitted_is_withheld_in_the_table() -> None:
    report = honest_code(Setup(samples=3, repeats=1, draft_arms=("dflash",)))
    rows = {arm.name: dict(zip(COLUMNS, cells(arm), strict=True)) for arm in summarise(report, judged(report))}
    assert rows["fused_dflash"]["decode ratio"] == "WITHHELD"
    assert rows["fused_dflash"]["95 % interval"] == ""
    assert rows["fused_dflash"]["decode tok/s"] != ""
    assert rows["oracle"]["decode ratio"] == ""


def test_an_admitted_ratio_comes_with_its_interval() -> None:
    report = honest_code()
    rows = {arm.name: dict(zip(COLUMNS, cells(arm), strict=True)) for arm in summarise(report, judged(report))}
    assert rows["fused_dflash"]["decode ratio"].endswith("x")
    assert " to " in rows["fused_dflash"]["95 % interval"]


def test_the_oracle_against_itself_is_told_in_the_table_and_nowhere_else() -> None:
    report = honest_code()
    rows = {arm.name: dict(zip(COLUMNS, cells(arm), strict=True)) for arm in summarise(report, judged(report))}
    assert rows["oracle_again"]["decode ratio"].endswith("x")
    assert "null_ratio" not in shown(report)


def test_hostile_strings_stay_in_their_cells() -> None:
    report = honest_niah()
    hostile = report.replace(arms=(report.arms[0].replace(name=HOSTILE[:200], engine=HOSTILE[:200]),))
    text = shown(hostile)
    assert all(line.isprintable() for line in text.splitlines())
    assert "[bold]" in text


def test_a_report_does_not_differ_from_itself() -> None:
    report = honest_code()
    assert list(differences(flat(report, judged(report)), flat(report, judged(report)))) == []


def test_differences_name_setting_figures_and_claims() -> None:
    first, second = honest_code(), honest_code(Setup(seed=1, speedup=2.0, repeats=1))
    found = {
        label: (ours, theirs) for label, ours, theirs in differences(*(flat(r, judged(r)) for r in (first, second)))
    }
    assert found["seed"] == ("0", "1")
    assert found["repeats"] == ("3", "1")
    assert "fused_dflash: decode tok/s" in found
    assert found["claim decode_speedup/fused_dflash"][0] == "admitted"
    assert found["claim decode_speedup/fused_dflash"][1].startswith("WITHHELD (")


@pytest.mark.parametrize(
    ("samples", "repeats", "kept", "said"),
    [(2, 3, 6, "2 samples x 3"), (2, 1, 2, "2 samples"), (2, 3, 0, "0 of 2 samples"), (2, 3, 3, "1 of 2 samples"),
     (2, 3, 5, "5 rows of 2 samples"), (1, 1, 1, "1 sample")],
)  # fmt: skip
def test_rows_are_told_as_samples_and_repeats(samples: int, repeats: int, kept: int, said: str) -> None:
    report = measured_niah(Setup(samples=samples, repeats=repeats))
    arm = report.arms[0]
    rows = sorted(arm.measurements, key=lambda row: (row.sample, row.repeat))[:kept]
    report = report.replace(arms=(arm.replace(measurements=tuple(rows)),))
    (summary,) = summarise(report, judge_evidence(Evidence(Path("x.json"), report)))
    assert cells(summary)[COLUMNS.index("rows")] == said
