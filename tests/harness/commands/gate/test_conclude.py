"""`k3 gate conclude`: a parity report that came later unlocks what was withheld for want of it, and nothing else."""

from pathlib import Path

import pytest

from gate.judging.judge import conclude
from harness.cli import run
from reports.report import load_report, report_bytes
from tests.gate.honest import Setup, honest_parity, measured_code

CLAIM = "decode_speedup/fused_dflash"


@pytest.fixture(name="early")
def judged_too_early(tmp_path: Path) -> Path:
    path = tmp_path / "code.json"
    path.write_bytes(report_bytes(conclude(measured_code(Setup(samples=6)).replace(parity=None))))
    return path


def codes(path: Path) -> tuple[str, ...]:
    return next(claim.withheld_by for claim in load_report(path).claims if claim.name == CLAIM)


def test_parity_that_came_later_unlocks_the_speed(early: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codes(early) == ("PARITY_REQUIRED",)
    (early.parent / "parity.json").write_bytes(report_bytes(honest_parity(Setup(samples=6))))
    arms = load_report(early).arms
    assert run(["gate", "check", str(early.parent)]) == 0
    assert f"WITHHELD {CLAIM}: not claimed" in capsys.readouterr().out
    assert run(["gate", "conclude", str(early)]) == 0
    assert f"HEADLINE {CLAIM} = 1." in capsys.readouterr().out
    assert codes(early) == ()
    assert load_report(early).arms == arms
    assert run(["gate", "check", str(early.parent)]) == 0


def test_without_anything_new_nothing_changes(early: Path) -> None:
    before = early.read_bytes()
    assert run(["gate", "conclude", str(early)]) == 0
    assert early.read_bytes() == before


def test_claims_of_older_rules_are_made_anew(early: Path) -> None:
    before = early.read_bytes()
    report = load_report(early)
    assert report.gate is not None
    claims = tuple(claim.replace(value=50.0) for claim in report.claims)
    gate = report.gate.replace(rule_set=report.gate.rule_set - 1)
    early.write_bytes(report_bytes(report.replace(claims=claims, gate=gate)))
    assert run(["gate", "conclude", str(early)]) == 0
    assert early.read_bytes() == before


def test_a_link_stays_one(early: Path) -> None:
    link = early.with_name("link.json")
    link.symlink_to(early)
    (early.parent / "parity.json").write_bytes(report_bytes(honest_parity(Setup(samples=6))))
    assert run(["gate", "conclude", str(link)]) == 0
    assert link.is_symlink()
    assert codes(early) == ()


def test_a_retraction_above_holds_wherever_the_command_is_given(
    early: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = early.parent / "inner"
    inner.mkdir()
    moved = early.rename(inner / early.name)
    entry = f'report_id = "{load_report(moved).report_id}"\ndate = 2026-01-02\nreason = "wrong"\n'
    (early.parent / "RETRACTIONS.toml").write_text(f"[[retraction]]\n{entry}")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert run(["gate", "conclude", str(moved)]) == 3


def reworded(early: Path) -> None:
    report = load_report(early)
    claims = tuple(claim.replace(value=50.0) for claim in report.claims)
    early.write_bytes(report_bytes(report.replace(claims=claims)))


def sped_up(early: Path) -> None:
    """An edit that keeps every sum: only what was claimed of the rows tells."""
    report = load_report(early)
    first = report.arms[0]
    rows = tuple(
        row.replace(decode_s=(row.decode_s or 0) * 1.5, e2e_s=(row.e2e_s or 0) + (row.decode_s or 0) * 0.5)
        for row in first.measurements
    )
    early.write_bytes(report_bytes(report.replace(arms=(first.replace(measurements=rows), *report.arms[1:]))))


def doctored(early: Path) -> None:
    report = load_report(early)
    arm = report.arms[2]
    rows = (arm.measurements[0].replace(decode_s=0.001), *arm.measurements[1:])
    arms = (*report.arms[:2], arm.replace(measurements=rows), *report.arms[3:])
    early.write_bytes(report_bytes(report.replace(arms=arms)))


def unfinished(early: Path) -> None:
    early.write_bytes(report_bytes(measured_code(Setup(samples=6))))


def retracted(early: Path) -> None:
    entry = f'report_id = "{load_report(early).report_id}"\ndate = 2026-01-02\nreason = "wrong"\n'
    (early.parent / "RETRACTIONS.toml").write_text(f"[[retraction]]\n{entry}")


def foreign(early: Path) -> None:
    early.write_text('{"tok_per_s": 30}')


def misspelt(early: Path) -> None:
    early.write_bytes(early.read_bytes().replace(b'"repeats"', b'"repeets"', 1))


def missing(early: Path) -> None:
    early.unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (reworded, "not as it was"),
        (sped_up, "not as it was"),
        (doctored, "not as it was"),
        (unfinished, "unfinished"),
        (retracted, "was retracted"),
        (foreign, "no report of a run of K3"),
        (misspelt, "plan.repe"),
        (missing, "cannot be read: No such file"),
    ],
)
def test_what_is_not_whole_is_left_alone(change, said: str, early: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(early)
    before = early.read_bytes() if early.exists() else None
    assert run(["gate", "conclude", str(early)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert (early.read_bytes() if early.exists() else None) == before
