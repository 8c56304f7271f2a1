import csv
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from harness.cli import run
from harness.commands.report.titles import title_of
from harness.plans.preset_file import read_preset
from reports.records.plan import PresetInfo
from reports.records.provenance import MachineReading
from reports.records.record import digest_of
from reports.report import load_report, report_bytes
from tests.gate.honest import Setup, honest_code, honest_kv_quant, honest_niah

LLAMA_BENCH = [
    {
        "build_commit": "abc1234",
        "build_number": 4000,
        "model_filename": "m.gguf",
        "model_type": "llama 135M",
        "n_prompt": 0,
        "n_gen": 128,
        "samples_ns": [1_000_000_000, 1_010_000_000],
        "samples_ts": [128.0, 126.7],
        "avg_ns": 1_005_000_000,
        "avg_ts": 127.35,
        "stddev_ns": 1,
        "stddev_ts": 0.1,
        "test_time": "2026-11-29T16:00:00Z",
    }
]


@pytest.fixture(name="code")
def code_report(tmp_path: Path) -> Path:
    path = tmp_path / "code.json"
    path.write_bytes(report_bytes(honest_code(Setup(samples=6, repeats=3))))
    return path


@pytest.fixture(name="weak")
def weak_report(tmp_path: Path) -> Path:
    path = tmp_path / "weak.json"
    path.write_bytes(report_bytes(honest_niah(Setup(samples=2, repeats=1))))
    return path


def test_show_prints_setting_arms_and_claims(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "show", str(code)]) == 0
    out, err = capsys.readouterr()
    for expected in ("commit", "fused_dflash", "decode tok/s", "fused_dflash was 1."):
        assert expected in out
    assert "HEADLINE" not in out
    assert "\x1b" not in out
    assert err == ""


def test_show_withholds_what_the_gate_withholds(weak: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "show", str(weak)]) == 0
    out = capsys.readouterr().out
    assert "WITHHELD: the speed of identity." in out
    assert "times as fast" not in out


def test_show_prints_claims_by_name_for_those_who_want_them(
    code: Path, weak: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "show", "-v", str(code)]) == 0
    assert "HEADLINE decode_speedup/fused_dflash = 1." in capsys.readouterr().out
    assert run(["report", "show", "-v", str(weak)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"WITHHELD decode_speedup/identity: .*SPEEDUP", out)
    assert "`k3 gate explain " in out


@pytest.mark.parametrize("command", ["show", "html", "diff"])
def test_a_file_without_a_report_is_3_in_one_line(
    command: str, code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema_version": 2, "kind": "niah"')
    for path in (broken, tmp_path / "gone.json", *([tmp_path] if command != "html" else ())):
        rest = {"show": [], "html": ["--out", str(tmp_path / "x.html")], "diff": [str(code)]}[command]
        assert run(["report", command, str(path), *rest]) == 3
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert str(path) in err
    assert not (tmp_path / "x.html").exists()


def test_diff_prints_what_differs_and_nothing_else(code: Path, weak: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "diff", str(code), str(code)]) == 0
    assert capsys.readouterr().out == "no difference in setting, figures or claims\n"
    assert run(["report", "diff", str(code), str(weak)]) == 0
    out = capsys.readouterr().out
    assert "workload" in out
    assert "chip" not in out


def test_a_folder_without_reports_leaves_no_folder_of_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").mkdir()
    assert run(["report", "html", str(tmp_path / "none"), "--out", str(tmp_path / "pages")]) == 3
    assert "no report in this folder" in capsys.readouterr().err
    assert not (tmp_path / "pages").exists()


def test_a_folder_is_told_which_command_takes_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "show", str(tmp_path)]) == 3
    assert "of a folder, `k3 gate check` judges every report" in capsys.readouterr().err


def test_html_is_written_whole_and_never_over_its_source(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    assert run(["report", "html", str(code), "--out", str(out)]) == 0
    assert out.read_text().startswith("<!DOCTYPE html>")
    before = code.read_bytes()
    for bad in (code, tmp_path, tmp_path / "no" / "page.html"):
        assert run(["report", "html", str(code), "--out", str(bad)]) == 3
        assert "--out" in capsys.readouterr().err
    assert code.read_bytes() == before


def test_without_out_a_page_is_named_after_what_is_read_and_nothing_is_lost(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert run(["report", "html", str(code)]) == 0
    assert capsys.readouterr().out == "code.html\n"
    (here / "code.html").write_text("mine")
    assert run(["report", "html", str(code)]) == 3
    assert "--out code.html" in capsys.readouterr().err
    assert (here / "code.html").read_text() == "mine"
    assert run(["report", "html", str(code.parent)]) == 0
    assert (here / f"{tmp_path.name}-pages" / "index.html").exists()


def test_a_changed_preset_is_not_called_by_its_title(code: Path, tmp_path: Path) -> None:
    report = load_report(code)
    data = read_preset("demo")
    preset = PresetInfo(name="demo", digest=digest_of(data))
    as_it_is = report.replace(preset=preset)
    assert title_of(as_it_is).startswith("K3's own tiny model")
    for changed in (preset.replace(overrides=("model=smollm2-135m",)), preset.replace(digest="sha256:" + "0" * 64)):
        assert "tiny" not in title_of(report.replace(preset=changed))
        assert title_of(report.replace(preset=changed)).startswith("demo, ")


def test_a_busy_machine_is_told_wherever_the_report_is(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = load_report(code)
    assert report.provenance is not None
    assert report.provenance.host is not None
    host = report.provenance.host.replace(cores=2)
    reading = MachineReading(process=0, moment="after", at=datetime(2026, 1, 2, tzinfo=UTC), others=0.5)
    told = report.replace(provenance=report.provenance.replace(host=host), machine=(reading,))
    code.write_bytes(report_bytes(told))
    page = tmp_path / "page.html"
    assert run(["report", "html", str(code), "--out", str(page)]) == 0
    assert "other programs kept 50% of its 2 cores busy" in page.read_text()
    capsys.readouterr()
    for command in (["report", "show"], ["gate", "check"]):
        run([*command, str(code)])
        assert "other programs kept 50% of its 2 cores busy" in capsys.readouterr().out


def test_table_lists_every_arm_as_csv(code: Path, weak: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "table", str(code.parent), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    by_arm = {(Path(row["file"]).name, row["arm"]): row for row in rows}
    assert float(by_arm["code.json", "fused_dflash"]["decode_ratio"]) > 1.4
    assert by_arm["weak.json", "identity"]["decode_ratio"] == "WITHHELD"
    assert by_arm["weak.json", "ablate"]["recalled"] == "0.0"
    assert by_arm["weak.json", "oracle"]["decode_ratio"] == ""


def test_table_is_markdown_by_default_and_tells_what_is_missing(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kv.json").write_bytes(report_bytes(honest_kv_quant()))
    gone = tmp_path / "gone.json"
    assert run(["report", "table", str(tmp_path), str(gone)]) == 3
    out, err = capsys.readouterr()
    assert out.startswith("| file | verdict | arm |")
    assert len({line.count("|") for line in out.splitlines()}) == 1
    assert "| unreadable |" in out
    assert err.startswith(f"k3: {gone}: ")


def test_table_disarms_formulas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = honest_niah(Setup(samples=2, repeats=1))
    arm = report.arms[0].replace(name='=HYPERLINK("http://example.org")', engine="+1 | `x`")
    (tmp_path / "x.json").write_bytes(report_bytes(report.replace(arms=(arm,))))
    assert run(["report", "table", str(tmp_path), "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["arm"].startswith("'=HYPERLINK")
    assert row["engine"].startswith("'+1")
    assert run(["report", "table", str(tmp_path)]) == 0
    assert "\\| \\`x\\`" in capsys.readouterr().out


def test_import_marks_the_report_as_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "bench.json", tmp_path / "imported.json"
    source.write_text(json.dumps(LLAMA_BENCH))
    assert run(["report", "import", str(source), "--out", str(out)]) == 0
    report = load_report(out)
    assert report.imported is not None
    assert report.gate is None
    assert capsys.readouterr().out == f"{out}\n"
    assert run(["report", "import", str(source)]) == 0
    assert capsys.readouterr().out == out.read_text()
    assert run(["report", "import", str(source), "--out", str(source)]) == 3
    assert json.loads(source.read_text()) == LLAMA_BENCH


def test_import_refuses_what_it_does_not_know(code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.json"
    page.write_text('{"name": "x"}')
    for path in (code, page, tmp_path / "gone.json"):
        assert run(["report", "import", str(path), "--out", str(tmp_path / "out.json")]) == 3
        assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_schema_describes_what_is_written(code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "schema"]) == 0
    jsonschema.validate(json.loads(code.read_text()), json.loads(capsys.readouterr().out))


def test_table_says_why_a_named_file_is_no_report(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, broken, listed = tmp_path / "README.md", tmp_path / "broken.json", tmp_path / "list.json"
    page.write_text("# prose")
    broken.write_text("{")
    listed.write_text("[]")
    for path, why in ((page, "not JSON"), (broken, "not JSON"), (listed, "this is a list")):
        assert run(["report", "table", str(path), str(code)]) == 3
        out, err = capsys.readouterr()
        assert "| oracle |" in out
        assert err.startswith(f"k3: {path}: ")
        assert why in err
        assert err.count("\n") == 1
    broken.unlink()
    assert run(["report", "table", str(tmp_path)]) == 0


def test_table_of_a_folder_without_reports_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "table", str(tmp_path)]) == 3
    assert "no report in this folder" in capsys.readouterr().err


def test_table_of_no_report_at_all_prints_its_error_alone(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that says nothing stood before it. Beside a report that is there the missed file keeps its row."""
    bad = tmp_path / "bad.json"
    assert run(["report", "table", str(bad)]) == 3
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"k3: {bad}: cannot be read: No such file or directory\n")
    assert run(["report", "table", str(bad), str(code)]) == 3
    assert "bad.json | unreadable |" in capsys.readouterr().out


def test_table_writes_a_column_in_one_way(code: Path, weak: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "table", str(code), str(weak)]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines[0].split(" | ").index("kv_bytes")
    figures = [line.split(" | ")[place] for line in lines[2:]]
    assert all("e+" not in figure and "," in figure for figure in figures if figure)


def test_import_says_what_the_gate_will_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "bench.json"
    source.write_text(json.dumps(LLAMA_BENCH))
    assert run(["report", "import", str(source), "--out", str(tmp_path / "imported.json")]) == 0
    said = capsys.readouterr().err
    run(["gate", "check", str(tmp_path / "imported.json"), "--format", "json"])
    (judged,) = json.loads(capsys.readouterr().out)
    if judged["verdict"] == "admissible":
        assert said == ""
    else:
        codes = ", ".join(violation["code"] for violation in judged["violations"])
        assert said == f"k3: the gate will say {judged['verdict']} of it: {codes}\n"


def test_a_folder_becomes_a_page_a_report_and_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "runs", tmp_path / "site"
    (folder / "more").mkdir(parents=True)
    for name in ("a.json", "more/a.json"):
        (folder / name).write_bytes(report_bytes(honest_niah(Setup(samples=2, repeats=1))))
    (folder / "notes.json").write_text("{}")
    assert run(["report", "html", str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out / "index.html")
    pages = sorted(path.name for path in out.iterdir())
    assert pages == ["000-a.html", "001-a.html", "index.html"]
    for name in pages[:2]:
        assert f'href="{name}"' in (out / "index.html").read_text()


def test_a_report_that_cannot_be_read_is_missed_in_a_folder(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.json").write_text('{"schema_version": 2, "kind": "niah"')
    assert run(["report", "html", str(tmp_path), "--out", str(tmp_path / "site")]) == 3
    assert "broken.json" in capsys.readouterr().err
    assert (tmp_path / "site" / "000-code.html").exists()


def test_a_folder_without_reports_makes_no_index(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["report", "html", str(tmp_path / "empty"), "--out", str(tmp_path / "site")]) == 3


def test_two_reports_are_written_side_by_side(code: Path, weak: Path, tmp_path: Path) -> None:
    out = tmp_path / "both.html"
    assert run(["report", "diff", str(code), str(weak), "--html", str(out)]) == 0
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert run(["report", "diff", str(code), str(weak), "--html", str(weak)]) == 3


@pytest.mark.parametrize(("kind", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_a_file_for_a_paper(code: Path, tmp_path: Path, kind: str, start: bytes) -> None:
    out = tmp_path / f"figure.{kind}"
    assert run(["report", "plot", str(code), "--out", str(out), "--picture", "stages"]) == 0
    assert out.read_bytes().startswith(start)


def test_a_picture_that_there_is_not_is_wrong_usage(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "plot", str(code), "--out", str(tmp_path / "x.pdf"), "--picture", "stagess"]) == 64
    assert "stages" in capsys.readouterr().err
    assert run(["report", "plot", str(code), "--out", str(tmp_path / "x.gif")]) == 64
    assert not list(tmp_path.glob("x.*"))
