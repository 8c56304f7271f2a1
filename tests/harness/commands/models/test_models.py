import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import ModelError
from harness.checks import verify_model as verify_module
from harness.cli import parser
from harness.models.registry import registry
from harness.models.resolve import resolve
from reports.records.provenance import AsRun, Faithfulness

Run = Callable[..., str]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("K3_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(name="run")
def run_command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `k3 models ...` and gives what it printed; errors escape, as the command line's main expects."""

    def run(*arguments: str) -> str:
        parser().main(args=["models", *arguments], prog_name="k3", standalone_mode=False)
        return capsys.readouterr().out

    return run


def test_list_shows_every_known_model_and_creates_nothing(
    empty_cache: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "999")
    *lines, _ = run("list").splitlines()
    assert [line.split()[0] for line in lines] == ["name", *registry().models]
    assert "present" in lines[1]
    assert "absent" in lines[2]
    assert "k3 models fetch smollm2-135m" in lines[2]
    assert not empty_cache.exists()


def test_list_as_json_is_one_document(empty_cache: Path, run: Run) -> None:
    models = json.loads(run("list", "--json"))
    assert [model["name"] for model in models] == list(registry().models)
    assert [(model["name"], model["state"], model["source"]) for model in models][:4] == [
        ("k3-tiny", "present", "shipped"),
        ("smollm2-135m", "absent", "package"),
        ("gemma3-270m", "absent", "package"),
        ("mac-26b", "absent", "folder"),
    ]
    assert all(model["state"] == "present" for model in models if model["source"] == "shipped")


def test_errors_are_raised_through_in_one_line(empty_cache: Path, run: Run) -> None:
    with pytest.raises(ModelError, match="did you mean gemma3-270m"):
        run("fetch", "gemma3-270")
    with pytest.raises(ModelError, match="run `k3 models fetch gemma3-270m`"):
        run("verify", "gemma3-270m")


@pytest.mark.model
def test_a_present_model_shows_size_architecture_and_folder(run: Run) -> None:
    model = json.loads(run("list", "--json"))[1]
    assert (model["state"], model["architecture"]) == ("present", "LlamaForCausalLM")
    assert model["size"] > 5e8
    assert run("fetch", "smollm2-135m").strip() == str(resolve("smollm2-135m").folder)


@pytest.mark.model
@pytest.mark.parametrize(("agreement", "gap", "fine"), [(1.0, 1e-4, True), (0.96, 0.5, False), (1.0, 14.7, False)])
def test_verify_prints_the_figures_and_fails_on_another_model(
    agreement: float, gap: float, fine: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measurement has its own tests (harness/models/test_verify.py); this is what is made of its figures."""
    figures = Faithfulness(reference="r", tokens=9, argmax_agreement=agreement, largest_logit_gap=gap)
    monkeypatch.setattr(verify_module, "verify", lambda folder, progress: figures)
    if fine:
        assert "argmax agreement 100.00%" in run("verify", "smollm2-135m")
        assert json.loads(run("verify", "smollm2-135m", "--json"))["largest_logit_gap"] == gap
    else:
        with pytest.raises(ModelError, match="mlx-lm does not run the model that transformers runs"):
            run("verify", "smollm2-135m")


@pytest.mark.model
@pytest.mark.parametrize("agreement", [0.96, 0.73])
def test_verify_fails_on_a_type_that_makes_another_model(
    agreement: float, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in = AsRun(dtype="bfloat16", tokens=64, argmax_agreement=agreement)
    figures = Faithfulness(reference="r", tokens=9, argmax_agreement=1.0, largest_logit_gap=1e-4, as_run=run_in)
    monkeypatch.setattr(verify_module, "verify", lambda folder, progress: figures)
    if agreement == 0.96:
        assert "in bfloat16, as it runs, 96.0% of 64 tokens" in run("verify", "smollm2-135m")
    else:
        with pytest.raises(ModelError, match="in bfloat16, as it runs here, it is another model"):
            run("verify", "smollm2-135m")
