"""`k3 code` from end to end on tiny random models: drafters, their provenance, and what is refused."""

from pathlib import Path

import pytest

import harness.engines.mlx  # noqa: F401
from harness.cli import run
from reports.records.measurement import Arm
from reports.report import Report, load_report
from tests.harness.commands.tiny_runs import tiny_drafter, tiny_model

SMALL = ("--items", "3", "--samples", "2", "--processes", "1", "--max-new-tokens", "12")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def measured(model: Path, out: Path, *more: str) -> Report:
    assert run(["code", "--model", str(model), *SMALL, "--out", str(out), *more]) in (0, 2)
    return load_report(out)


def streams(report: Report, name: str) -> list[tuple[int, ...] | None]:
    return [row.token_ids for row in arm_of(report, name).measurements]


def arm_of(report: Report, name: str) -> Arm:
    return next(arm for arm in report.arms if arm.name == name)


@pytest.mark.parametrize(
    ("engine", "kind"), [("fused", "ngram"), ("fused", "model"), ("fused", "dflash"), ("fused-carry", "dflash")]
)
def test_every_drafter_is_lossless_and_recorded(model: Path, tmp_path: Path, engine: str, kind: str) -> None:
    named: tuple[str, ...] = ()
    if kind == "model":
        named = ("--drafter-model", str(tiny_model(tmp_path / "small", seed=9)))
    elif kind == "dflash":
        named = ("--drafter-model", str(tiny_drafter(tmp_path / "dflash", model)))
    report = measured(model, tmp_path / "r.json", "--drafter", kind, "--engine", engine, "--block-size", "4", *named)
    assert report.kind == "code"
    assert streams(report, "sut") == streams(report, "oracle") == streams(report, "shuffled")
    assert report.provenance is not None
    roles = [info.role for info in report.provenance.models]
    drafter = arm_of(report, "sut").drafter
    assert drafter is not None
    assert drafter.block_size == 4
    if kind == "ngram":
        assert roles == ["verifier"]
        assert drafter.weights is None
    else:
        assert roles == ["verifier", "drafter"]
        assert drafter.weights == report.provenance.models[1].weights
        assert drafter.weights != report.provenance.models[0].weights
    shuffled = arm_of(report, "shuffled").drafter
    assert shuffled is not None
    assert (shuffled.name, shuffled.weights) == (f"shuffled {drafter.name}", drafter.weights)


def test_a_model_drafting_for_itself_is_always_right(model: Path, tmp_path: Path) -> None:
    report = measured(model, tmp_path / "r.json", "--drafter", "model", "--drafter-model", str(model))
    for row in arm_of(report, "sut").measurements:
        assert row.speculation is not None
        assert row.speculation.accepted == row.speculation.drafted
    assert report.provenance is not None
    assert len({info.weights for info in report.provenance.models}) == 1


def test_the_budget_is_decoded_in_full_unless_a_natural_stop_is_asked_for(model: Path, tmp_path: Path) -> None:
    full = measured(model, tmp_path / "full.json")
    natural = measured(model, tmp_path / "natural.json", "--natural-stop")
    assert {row.decode_tokens for row in arm_of(full, "oracle").measurements} == {11}
    assert full.plan is not None
    assert natural.plan is not None
    assert full.plan.stop is not None
    assert natural.plan.stop is not None
    assert (full.plan.stop.ignore_turn_stop, natural.plan.stop.ignore_turn_stop) == (True, False)


def test_a_drafter_by_environment_variable(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3_TEST_DRAFTER", str(tiny_drafter(tmp_path / "dflash", model)))
    named = ("--drafter", "dflash", "--drafter-model", "${ENV:K3_TEST_DRAFTER}", "--block-size", "4")
    report = measured(model, tmp_path / "r.json", *named)
    assert report.provenance is not None
    assert report.provenance.models[1].id == "dflash"
    assert str(tmp_path) not in (tmp_path / "r.json").read_text().replace(f'"{tmp_path / "r.json"}"', "")


def test_damaged_drafter_weights_are_told_before_the_verifier_is_loaded(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny_drafter(tmp_path / "dflash", model)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-64])
    named = ("--drafter", "dflash", "--drafter-model", str(folder))
    assert run(["code", "--model", str(model), *SMALL, "--out", str(tmp_path / "r.json"), *named]) == 3
    assert "damaged or not whole" in capsys.readouterr().err
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--drafter", "dflash"), "needs a model; name its folder"),
        (("--drafter-model", "x"), "has no weights; leave out model"),
        (("--block-size", "0"), "--block-size 0: "),
        (("--drafter", "magic"), "magic"),
        (("--items", "1"), "--items 1: "),
    ],
)
def test_contradictions_are_wrong_usage(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    assert run(["code", "--model", str(model), *SMALL, "--out", str(tmp_path / "r.json"), *more]) == 64
    shown = capsys.readouterr()
    assert said in shown.err
    assert [line[:4] for line in shown.err.splitlines() if line[0] != "["] == ["k3: "]
