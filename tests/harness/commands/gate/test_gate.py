import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gate.judging.rule_set import all_rules
from gate.rulebook.claim_kinds import CLAIM_KINDS
from gate.rulebook.rule import ALL_METRICS
from harness.cli import run
from reports.report import report_bytes
from tests.gate.honest import Setup, honest_code, honest_parity

ROOT = Path(__file__).resolve().parents[4]
COMMAND = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"
FORMATS = ("text", "json", "junit", "sarif", "github")


@pytest.fixture(name="good")
def good_report(tmp_path: Path) -> Path:
    path = tmp_path / "evidence" / "good.json"
    path.parent.mkdir()
    path.write_bytes(report_bytes(honest_parity(Setup(samples=5))))
    return path


@pytest.fixture(name="bad")
def bad_report(tmp_path: Path) -> Path:
    report = honest_code(Setup(samples=5, repeats=3, draft_arms=("ngram",)))
    claims = tuple(claim.replace(value=50.0) for claim in report.claims)
    path = tmp_path / "bad.json"
    path.write_bytes(report_bytes(report.replace(claims=claims)))
    return path


def test_admissible_is_0(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "check", str(good.parent)]) == 0
    out, err = capsys.readouterr()
    assert "HEADLINE drafter_parity/mlx = 1" in out
    assert err == ""


def test_a_violation_is_2_and_the_rest_is_judged(
    good: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["gate", "check", str(bad), str(good), str(tmp_path / "gone.json")]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  CLAIM_NOT_REPRODUCIBLE") for line in lines)
    assert lines[-1] == "3 files: 1 admissible, 1 invalid, 1 unreadable"


@pytest.mark.parametrize("kind", ["missing", "folder", "loop", "pipe"])
def test_what_cannot_be_opened_is_3(kind: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    assert run(["gate", "check", str(path), str(good)]) == 3
    out = capsys.readouterr().out
    assert f"{path}: unreadable" in out
    assert out.count("UNREADABLE") == 1
    assert "1 admissible" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gate", "check"], "PATH"),
        (["gate", "check", "x.json", "--format", "xml"], "--format"),
        (["gate", "check", "x.json", "--fromat", "json"], "--fromat"),
        (["gate", "explain", "SPEEDUP_SAMPELS"], "SPEEDUP_SAMPLES"),
        (["gate", "explain", "\x1b[31m"], "gate rules"),
        (["gate", "ledger"], "PATH"),
        (["gate", "chekc"], "chekc"),
    ],
)
def test_wrong_usage_is_64_in_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.startswith("k3: ")
    assert err.rstrip("\n").isprintable()


def test_json_is_one_document_sorted_by_path(good: Path, bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "check", str(good), str(bad), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [file["path"] for file in document] == sorted([str(good), str(bad)])
    by_path = {file["path"]: file for file in document}
    assert by_path[str(good)]["verdict"] == "admissible"
    assert by_path[str(good)]["claims"] == [
        {"name": "drafter_parity/mlx", "value": 1.0, "status": "admitted", "withheld_by": []}
    ]
    assert by_path[str(bad)]["verdict"] == "invalid"
    assert all(claim["status"] == "withheld" for claim in by_path[str(bad)]["claims"])
    assert err == ""


def test_junit_and_sarif_are_documents(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "check", str(bad), "--format", "junit"]) == 2
    assert int(ElementTree.fromstring(capsys.readouterr().out).get("failures", "0")) > 0
    assert run(["gate", "check", str(bad), "--format", "sarif"]) == 2
    assert json.loads(capsys.readouterr().out)["version"] == "2.1.0"


def test_github_annotates_and_appends_to_the_step_summary(
    bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run(["gate", "check", str(bad), "--format", "github"]) == 2
    assert all(line.startswith("::error file=") for line in capsys.readouterr().out.splitlines())
    assert summary.read_text().startswith("before\n## k3 gate check\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary.md"))
    assert run(["gate", "check", str(bad), "--format", "github"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert run(["gate", "check", str(bad), "--format", "github"]) == 2


def test_retractions_by_name_and_a_broken_file(good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = tmp_path / "taken-back.toml"
    report_id = json.loads(good.read_text())["report_id"]
    named.write_text(f'[[retraction]]\nreport_id = "{report_id}"\nreason = "wrong"\ndate = 2026-11-29\n')
    assert run(["gate", "check", str(good), "--retractions", str(named)]) == 2
    assert "RETRACTED" in capsys.readouterr().out
    named.write_text("[[retraction]]\n")
    assert run(["gate", "check", str(good), "--retractions", str(named)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert str(named) in err


def test_rules_and_explain_tell_the_same_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "rules"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [rule.code for rule in all_rules()]
    assert run(["gate", "rules", "--json"]) == 0
    rules = {rule["code"]: rule for rule in json.loads(capsys.readouterr().out)["rules"]}
    for code in ("SPEEDUP_SAMPLES", "speedup_samples"):
        assert run(["gate", "explain", code]) == 0
        text = " ".join(capsys.readouterr().out.split())
        for part in ("catches", "why", "fix", "bad", "good"):
            assert rules["SPEEDUP_SAMPLES"][part] in text
        assert "MIN_SPEEDUP_SAMPLES = 5" in text


@pytest.mark.parametrize("metric", ALL_METRICS)
def test_every_claim_is_explained_with_the_rules_that_block_it(metric: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "explain", f"{metric}/some_arm"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    kind = CLAIM_KINDS[metric]
    for part in (metric, kind.title, kind.asserts, kind.computed):
        assert part in text
    own = [rule for rule in all_rules() if metric in rule.blocks and set(rule.blocks) != set(ALL_METRICS)]
    assert all(rule.code in text for rule in own)
    assert f"{len(all_rules_of_every_claim())} rules that block every claim; `k3 gate claims --json` lists them" in text


def all_rules_of_every_claim() -> list[str]:
    return [rule.code for rule in all_rules() if set(rule.blocks) == set(ALL_METRICS)]


def test_claims_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "claims"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(ALL_METRICS)
    assert run(["gate", "claims", "--json"]) == 0
    told = {claim["metric"]: claim for claim in json.loads(capsys.readouterr().out)}
    assert "CONTROL_RECALL_HIGH" in told["restoration_recall"]["blocked_by"]
    assert "CONTROL_RECALL_HIGH" not in told["null_ratio"]["blocked_by"]


def test_what_is_withheld_points_to_its_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "check", str(ROOT / "reports" / "evidence" / "demo-smollm2.json")]) == 0
    hint = capsys.readouterr().out.splitlines()[-2]
    code, metric = (hint.split("`")[place].removeprefix("k3 gate explain ") for place in (1, 3))
    for name in (code, metric):
        assert run(["gate", "explain", name]) == 0


def test_the_ledger_checks_prose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("1.6x <!-- k3: gone.json sha256:0123456789ab /claims/0/value -->\n")
    assert run(["gate", "ledger", str(tmp_path)]) == 2
    assert "README.md:1: REPORT_MISSING" in capsys.readouterr().out
    assert run(["gate", "ledger", str(tmp_path), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)[0]["problem"] == "REPORT_MISSING"
    assert run(["gate", "ledger", str(tmp_path / "gone.md")]) == 3


def test_prose_without_a_marked_figure_is_3_unless_it_may_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("It is fast.\n")
    assert run(["gate", "ledger", str(tmp_path)]) == 3
    assert (
        capsys.readouterr().err == f"k3: {tmp_path}: no marked figure; name the prose that has some, or --allow-none\n"
    )
    assert run(["gate", "ledger", str(tmp_path), "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert err.count("\n") == 1
    assert run(["gate", "ledger", str(tmp_path), "--allow-none"]) == 0


@pytest.mark.parametrize("content", [None, "[]", '{"name": "x"}'])
@pytest.mark.parametrize("output", FORMATS)
def test_a_folder_without_a_report_is_3(
    content: str | None, output: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if content is not None:
        (folder / "package.json").write_text(content)
    assert run(["gate", "check", str(good.parent), str(folder), "--format", output]) == 3
    assert capsys.readouterr().err == f"k3: {folder}: no report in this folder; name the one that holds them\n"


def test_what_is_no_report_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note.txt").write_text("a note")
    (tmp_path / "list.json").write_text("[]")
    assert run(["gate", "check", str(tmp_path / "note.txt"), str(tmp_path / "list.json")]) == 3
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].endswith("list.json: not evidence (a report is one JSON object; this is a list)")
    assert "note.txt: not evidence (not JSON" in lines[1]
    assert "JSON" not in err, "the reason stands in the list"


@pytest.mark.parametrize("output", sorted(set(FORMATS) - {"text"}))
def test_where_no_list_tells_it_the_error_says_why(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("a note")
    assert run(["gate", "check", str(tmp_path / "note.txt"), "--format", output]) == 3
    assert capsys.readouterr().err.startswith(f"k3: {tmp_path / 'note.txt'}: not JSON: it is text")


@pytest.mark.parametrize(("code", "said"), [("NOPE", "k3 gate rules"), ("", "k3 gate rules"), ("  ", "k3 gate rules")])
def test_a_code_like_no_other_suggests_none(code: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "explain", code]) == 64
    err = capsys.readouterr().err
    assert said in err
    assert "did you mean" not in err
    assert " ;" not in err


def test_the_projects_own_figures_hold() -> None:
    assert run(["gate", "ledger", str(ROOT / "README.md"), str(ROOT / "docs")]) == 0


def test_the_projects_own_evidence_is_fit_to_be_cited() -> None:
    assert run(["gate", "check", str(ROOT / "reports" / "evidence")]) == 0


@pytest.mark.parametrize("output", FORMATS)
def test_without_a_terminal_there_are_no_control_codes(output: str, bad: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "gate", "check", str(bad), "--format", output],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 2
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour_unless_it_declines(bad: Path, variables: dict[str, str], coloured: bool) -> None:
    leader, follower = os.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "gate", "check", str(bad)],
        stdout=follower,
        cwd=ROOT,
        env={**environment, "TERM": "xterm-256color", **variables},
    ) as process:
        os.close(follower)
        printed = b""
        while True:
            try:
                chunk = os.read(leader, 4096)
            except OSError:
                break
            if not chunk:
                break
            printed += chunk
    os.close(leader)
    assert process.returncode == 2
    assert (b"\x1b[" in printed) == coloured


def test_a_closed_pipe_is_no_bug(bad: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "gate", "check", str(bad)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("name", ["report.json.gz", "serving.json", "run.json.rows", "note.txt"])
def test_what_was_named_and_not_judged_is_3(
    name: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"{}") if name.endswith("gz") else b'{"output_throughput": 410.6}')
    assert run(["gate", "check", str(path), str(good)]) == 3
    out, err = capsys.readouterr()
    assert "1 admissible, 1 not evidence" in out
    assert err.startswith(f"k3: {path}: ")
    assert err.count("\n") == 1


def test_what_a_folder_holds_beside_reports_fails_it_only_if_asked(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (good.parent / "begun.json.rows").write_bytes(b"")
    (good.parent / "package.json").write_text('{"name": "x"}')
    assert run(["gate", "check", str(good.parent)]) == 0
    assert "begun.json.rows: not evidence (the rows of a run that has not come to its end" in capsys.readouterr().out
    assert run(["gate", "check", str(good.parent), "--strict"]) == 3
    assert "begun.json.rows: was not judged, as the list says" in capsys.readouterr().err
    good.unlink()
    assert run(["gate", "check", str(good.parent)]) == 3
    assert "no report in this folder" in capsys.readouterr().err


def test_a_violation_outranks_what_was_not_judged(bad: Path, tmp_path: Path) -> None:
    other = tmp_path / "x.json"
    other.write_text("{}")
    assert run(["gate", "check", str(bad), str(other), "--strict"]) == 2
