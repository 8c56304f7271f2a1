"""The public module: what it names is there, says what the command says, and loads no model library."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import k3

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "reports" / "evidence"
FILE = EVIDENCE / "demo-code-tiny.json"


def python(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_all_that_is_named_is_there_and_documented() -> None:
    assert sorted(k3.__all__) == k3.__all__
    assert all(getattr(k3, name).__doc__ for name in k3.__all__)


def test_a_file_is_judged_as_by_the_command() -> None:
    (said,) = json.loads(python("-m", "k3", "gate", "check", str(FILE), "--format", "json").stdout)
    file = k3.check(str(FILE))
    assert file.verdict == said["verdict"]
    admitted = [claim["name"] for claim in said["claims"] if claim["status"] == "admitted"]
    assert [claim.name for claim in file.claims if claim.status == "admitted"] == admitted
    assert any("as fast as the plain model" in sentence for sentence in k3.sentences(file))


def test_a_report_comes_back_as_it_was_written(tmp_path: Path) -> None:
    report = k3.load(FILE)
    k3.write(report, tmp_path / "copy.json")
    assert k3.load(tmp_path / "copy.json") == report
    with pytest.raises(k3.ReportError):
        k3.load(tmp_path / "none.json")


def test_a_file_that_is_no_report_is_judged_too(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    assert k3.check(tmp_path / "x.json").headlines == ()
    assert k3.check(tmp_path / "none.json").headlines == ()


def test_it_loads_no_model_library() -> None:
    heavy = "{'mlx', 'torch', 'transformers', 'numpy', 'pandas', 'grpc', 'matplotlib'}"
    done = python("-c", f"import sys, k3; print({heavy} & {{name.partition('.')[0] for name in sys.modules}})")
    assert (done.stdout.strip(), done.stderr) == ("set()", "")


def test_the_module_is_the_command() -> None:
    assert python("-m", "k3", "--version").stdout == python("-m", "harness.cli", "--version").stdout != ""
