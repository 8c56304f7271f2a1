"""`k3 kvquant` from end to end on a tiny model: rows of every arm, a verdict, an interruption, a picture."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import harness.engines.mlx  # noqa: F401
from gate.judging.judge import conclude, judge
from harness.cli import run
from harness.runs.journal import read_journal
from reports.journal import MeasuredSample
from reports.records.codec_rows import CodecArm, KvQuantResult
from reports.records.provenance import Faithfulness
from reports.report import Report, load_report
from tests.harness.commands.killed import killed
from tests.harness.commands.timeless import timeless

FAITHFUL = Faithfulness(reference="transformers", tokens=600, argmax_agreement=1.0, largest_logit_gap=1e-4)
CODECS = "affine8,affine3,hadamard-affine4,d4-4,e8-4"
NAMES = ["identity", "affine4", *CODECS.split(","), "mlx-lm-affine8", "mlx-lm-affine4"]


@pytest.fixture(scope="module")
def model() -> Path:
    """The shipped verifier, which recalls: a codec of a model that does not has no verdict."""
    return Path("k3-tiny")


def arguments(model: Path, out: Path, *more: str) -> list[str]:
    return ["kvquant", "--model", str(model), "--codecs", CODECS, "--lines", "10", "--out", str(out), *more]


@pytest.fixture(scope="module")
def measured(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three samples."""
    out = tmp_path_factory.mktemp("runs") / "kvquant.json"
    run(arguments(model, out, "--samples", "3"))
    return out


def result_of(report: Report) -> KvQuantResult:
    assert report.kv_quant is not None
    return report.kv_quant


def arm_of(report: Report, name: str) -> CodecArm:
    return next(arm for arm in result_of(report).arms if arm.name == name)


def citable(report: Report) -> Report:
    """The same rows as if the tree had been clean and the verifier checked, judged again."""
    assert report.provenance is not None
    assert report.provenance.source is not None
    models = tuple(model.replace(faithfulness=FAITHFUL) for model in report.provenance.models)
    source = report.provenance.source.replace(dirty=False)
    return conclude(report.replace(provenance=report.provenance.replace(source=source, models=models)))


def test_every_arm_is_measured_on_every_sample(measured: Path) -> None:
    report = load_report(measured)
    result = result_of(report)
    assert [arm.name for arm in result.arms] == NAMES
    assert [row.sample for row in result.oracle] == [0, 1, 2]
    for arm in result.arms:
        assert [row.sample for row in arm.samples] == [0, 1, 2]
    assert {row.token_ids_equal_oracle for row in arm_of(report, "identity").samples} == {True}
    for name, bits in (("affine8", 8.5), ("affine4", 4.5), ("e8-4", 4.5), ("mlx-lm-affine4", 5.0)):
        assert {8 * row.stored_bytes / row.values for row in arm_of(report, name).samples} == {bits}  # type: ignore[operator]


def test_the_gate_gives_every_codec_its_verdict(measured: Path) -> None:
    """And withholds it: k3-tiny hardly answers the second question, so a codec can hardly fail it."""
    report = citable(load_report(measured))
    assert sum(row.second.correct for row in result_of(report).oracle) < 3
    judged = judge(report)
    assert judged.verdict == "withheld"
    assert [(violation.code, violation.field) for violation in judged.violations] == [
        ("KVQUANT_CONTROL", "second.correct")
    ]
    verdicts = {claim.name.split("/")[1]: (claim.value, claim.withheld_by) for claim in judged.claims}
    assert set(verdicts) == {"affine8", "affine3", "hadamard-affine4", "d4-4", "e8-4"}
    assert verdicts["affine8"] == (0.0, ("KVQUANT_CONTROL", "KVQUANT_SAMPLES"))
    assert verdicts["affine3"] == (0.0, ("KVQUANT_CONTROL", "KVQUANT_SAMPLES"))


def test_the_second_question_of_the_preset_is_answered_by_the_plain_model_and_failed_by_a_coarse_codec(
    tmp_path: Path,
) -> None:
    out = tmp_path / "preset.json"
    run(["eval", "--preset", "kvquant-tiny", "--samples", "2", "--set", 'codecs=["hadamard-d4-2"]', "--out", str(out)])
    report = load_report(out)
    assert [row.second.correct for row in result_of(report).oracle] == [True, True]
    second = {name: [row.second.correct for row in arm_of(report, name).samples if row.second is not None]
              for name in ("identity", "affine4", "hadamard-d4-2")}  # fmt: skip
    assert second["identity"] == second["affine4"] == [True, True]
    assert False in second["hadamard-d4-2"]
    assert "KVQUANT_CONTROL" not in {violation.code for violation in judge(citable(report)).violations}


def test_a_second_question_that_the_oracle_answers_leaves_too_few_prompts_in_the_way_alone(measured: Path) -> None:
    report = citable(load_report(measured))
    result = result_of(report)
    answers = {row.sample: row.answer for row in report.workload.prompts if row.answer} if report.workload else {}

    def answered(row: Any) -> Any:
        return row.replace(second=row.second.replace(text=f"It is {answers[row.sample]}.", correct=True))

    arms = tuple(
        arm.replace(samples=tuple(answered(row) if row.second is not None else row for row in arm.samples))
        for arm in result.arms
    )
    told = result.replace(oracle=tuple(map(answered, result.oracle)), arms=arms)
    judged = judge(conclude(report.replace(kv_quant=told)))
    assert judged.violations == ()
    assert {claim.withheld_by for claim in judged.claims} == {("KVQUANT_SAMPLES",)}


def test_the_table_and_the_page_show_every_codec(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "show", str(measured)]) == 0
    shown = capsys.readouterr().out
    page = tmp_path / "page.html"
    assert run(["report", "html", str(measured), "--out", str(page)]) == 0
    text = page.read_text()
    for name in NAMES:
        assert name in shown
        assert name in text
    assert text.count("<svg") == 3
    assert "<script" not in text


def test_a_killed_run_ends_as_if_nothing_had_happened(model: Path, measured: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed.json"
    assert killed(2, signal.SIGKILL, arguments(model, out, "--samples", "3")).returncode == -signal.SIGKILL
    kept = read_journal(out)
    assert kept is not None
    first = [entry for entry in kept.entries if isinstance(entry, MeasuredSample)]
    assert len(first) == 2
    run(arguments(model, out, "--samples", "3"))
    whole, straight = load_report(out), load_report(measured)
    assert result_of(whole).oracle[:2] == tuple(entry.oracle for entry in first)
    assert timeless(whole) == timeless(straight)
    assert whole.plan is not None
    assert whole.plan.complete is True
    assert [resume.order for resume in whole.plan.resumes] == [2]
    assert os.listdir(tmp_path) == ["killed.json"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--codecs", "affine7"), "affine"),
        (("--codecs", "e9-4"), "e9-4"),
        (("--codecs", "d4-4-g12"), "group 12"),
        (("--runtime-bits", "four"), "runtime-bits"),
        (("--samples", "0"), "samples"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], named: str
) -> None:
    assert run(["kvquant", "--model", "no-such-model", "--out", str(tmp_path / "r.json"), *more]) in (64, 3)
    captured = capsys.readouterr()
    assert [line[:4] for line in captured.err.splitlines() if line[0] != "["] == ["k3: "]
    assert named in captured.err or "no-such-model" in captured.err


def test_a_runtime_that_cannot_hold_the_bits_is_reported_with_its_reason(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    run(arguments(model, out, "--samples", "1", "--runtime-bits", "3"))
    (refused,) = result_of(load_report(out)).refused
    assert refused.name == "mlx-lm-affine3"
    assert "3 bits" in refused.reason
    assert json.loads(out.read_text())["kv_quant"]["refused"]
