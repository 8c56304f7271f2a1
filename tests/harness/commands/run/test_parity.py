"""`k3 parity` from end to end: two real runtimes of a random drafter, and what their agreement unlocks."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness.engines.mlx  # noqa: F401
from gate.judging.batch import Judge
from gate.judging.judge import conclude
from harness.cli import run
from reports.records.provenance import Faithfulness
from reports.report import Report, load_report, write_report
from tests.harness.commands.tiny_runs import tiny_drafter, tiny_model

pytestmark = pytest.mark.torch

FAITHFUL = Faithfulness(reference="transformers", tokens=600, argmax_agreement=1.0, largest_logit_gap=1e-4)
ROOT = Path(__file__).resolve().parents[4]
SMALL = ("--samples", "3", "--blocks", "4", "--items", "3")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def drafter(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    return tiny_drafter(tmp_path_factory.mktemp("drafters") / "dflash", model)


def arguments(model: Path, drafter: Path, out: Path, *more: str) -> list[str]:
    return ["parity", "--model", str(model), "--drafter", str(drafter), *SMALL, "--out", str(out), *more]


def citable(report: Report) -> Report:
    """The same rows as if the tree had been clean and the verifier checked, judged again."""
    assert report.provenance is not None
    assert report.provenance.source is not None
    models = tuple(
        model.replace(faithfulness=FAITHFUL) if model.role == "verifier" else model
        for model in report.provenance.models
    )
    source = report.provenance.source.replace(dirty=False)
    return conclude(report.replace(provenance=report.provenance.replace(source=source, models=models)))


def withheld_by(path: Path, claim: str) -> tuple[str, ...]:
    judged = Judge().read(path).judged
    return next(found.withheld_by for found in judged.claims if found.name == claim)


def test_float32_agrees_on_every_token_and_says_what_was_compared(
    model: Path,
    drafter: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = tmp_path / "parity.json"
    assert run(arguments(model, drafter, out)) in (0, 2)
    report = load_report(out)
    assert report.kind == "parity"
    assert report.parity is not None
    assert report.provenance is not None
    assert [info.role for info in report.provenance.models] == ["verifier", "drafter"]
    assert report.provenance.models[1].weights == report.parity.drafter_weights
    assert (report.parity.reference_runtime, report.parity.candidate_runtime) == ("torch", "mlx")
    assert (report.parity.reference_dtype, report.parity.candidate_dtype) == ("float32", "float32")
    assert len(report.parity.blocks) == 3 * 4
    for block in report.parity.blocks:
        assert block.reference_tokens == block.candidate_tokens
        assert len(block.candidate_tokens) == 7
    assert report.workload is not None
    assert [prompt.sample for prompt in report.workload.prompts] == [0, 1, 2]
    shown = capsys.readouterr()
    assert re.search(r" 84 +84 ", shown.err)
    again = citable(report)
    assert [(claim.name, claim.value, claim.status) for claim in again.claims] == [
        ("drafter_parity/mlx", 1.0, "admitted")
    ]
    assert again.gate is not None
    assert again.gate.verdict == "admissible"


def test_parity_in_the_same_folder_unlocks_a_code_report(model: Path, drafter: Path, tmp_path: Path) -> None:
    code, parity = tmp_path / "code.json", tmp_path / "parity.json"
    flags = ["--drafter", "dflash", "--drafter-model", str(drafter), "--model", str(model), "--items", "3"]
    run(["code", *flags, "--samples", "2", "--processes", "1", "--max-new-tokens", "12", "--out", str(code)])
    assert "PARITY_REQUIRED" in withheld_by(code, "acceptance/sut")
    run(arguments(model, drafter, parity))
    assert "PARITY_REQUIRED" in withheld_by(code, "acceptance/sut"), "a report that is not citable unlocks nothing"
    write_report(citable(load_report(parity)), parity)
    assert Judge().read(parity).judged.verdict == "admissible"
    assert "PARITY_REQUIRED" not in withheld_by(code, "acceptance/sut")
    assert "PARITY_REQUIRED" not in withheld_by(code, "decode_speedup/sut")


def test_another_drafter_s_parity_unlocks_nothing(model: Path, drafter: Path, tmp_path: Path) -> None:
    code, other = tmp_path / "code.json", tiny_drafter(tmp_path / "other", model, seed=1)
    run(arguments(model, drafter, tmp_path / "parity.json"))
    write_report(citable(load_report(tmp_path / "parity.json")), tmp_path / "parity.json")
    flags = ["--drafter", "dflash", "--drafter-model", str(other), "--model", str(model), "--items", "3"]
    run(["code", *flags, "--samples", "2", "--processes", "1", "--max-new-tokens", "8", "--out", str(code)])
    assert "PARITY_REQUIRED" in withheld_by(code, "acceptance/sut")


def test_a_lower_precision_is_counted_and_withheld_only_for_what_differs(
    model: Path, drafter: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bf16.json"
    run(arguments(model, drafter, out, "--dtype", "bfloat16"))
    report = load_report(out)
    assert report.parity is not None
    assert report.parity.candidate_dtype == report.parity.reference_dtype == "bfloat16"
    differs = any(block.reference_tokens != block.candidate_tokens for block in report.parity.blocks)
    assert ("PARITY_FAILED" in withheld_by(out, "drafter_parity/mlx")) == differs


def test_json_is_one_document(model: Path, drafter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(arguments(model, drafter, tmp_path / "p.json", "--json"))
    document = json.loads(capsys.readouterr().out)
    assert [claim["name"] for claim in document["claims"]] == ["drafter_parity/mlx"]


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--block-size", "9"), 64, "9 is more than the 8 positions"),
        (("--block-size", "1"), 64, "--block-size 1: "),
        (("--blocks", "0"), 64, "blocks"),
        (("--drafter", "/nowhere/at/all"), 3, "/nowhere/at/all"),
        (("--drafter", "${ENV:K3_NOT_SET}"), 3, "K3_NOT_SET"),
        (("--dtype", "float64"), 64, "float64"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(
    model: Path,
    drafter: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    assert run(arguments(model, drafter, tmp_path / "p.json", *more)) == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert [line[:4] for line in shown.err.splitlines() if line[0] != "["] == ["k3: "]
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_not_overwritten(model: Path, drafter: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.json"
    out.write_text("kept")
    assert run(arguments(model, drafter, out)) == 3
    assert out.read_text() == "kept"


def test_a_finished_run_named_again_has_nothing_to_do(
    model: Path, drafter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p.json"
    run(arguments(model, drafter, out))
    before = out.read_bytes()
    assert run(arguments(model, drafter, out, "--blocks", "3")) == 3, "another run's"
    capsys.readouterr()
    assert run(arguments(model, drafter, out)) == 0
    assert "it is finished; nothing to do" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]


def test_an_interrupted_run_leaves_nothing(model: Path, drafter: Path, tmp_path: Path) -> None:
    program = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"
    long = ["--samples", "300", "--blocks", "64"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments(model, drafter, tmp_path / "p.json", *long)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"K3_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    while process.poll() is None and len(list(tmp_path.glob("cache/digests/*"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "k3: interrupted; nothing is kept"
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_model_is_no_dflash_drafter(
    model: Path, drafter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(model, model, tmp_path / "p.json")) == 3
    assert "this is no DFlash drafter" in capsys.readouterr().err
