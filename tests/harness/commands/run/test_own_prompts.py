"""`k3 eval --set workload.prompts=FILE`: prompts of one's own from the command line to the report."""

import json
import sys
from pathlib import Path

import pytest

from harness.base.provenance import anonymous_setting
from harness.cli import run
from harness.commands.run import eval as run_module
from harness.models.folder.tokenizer_files import may_have_chat_template
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset, read_preset
from reports.records.record import digest_of
from reports.report import load_report

ROWS = ({"text": "def area(radius):\n    return", "group": "maths"}, {"text": "for name in names:\n    print("})
SMALL = ("--samples", "2", "--processes", "1", "--set", "max_new_tokens=4")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of two prompts in a folder of the user's."""
    file = tmp_path / "of mine" / "own.jsonl"
    file.parent.mkdir()
    file.write_text("\n".join(map(json.dumps, ROWS)))
    return file


def test_a_report_tells_the_file_by_name_and_digest_and_no_folder(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["eval", "--preset", "code-tiny", *SMALL, "--set", f"workload.prompts={own}"]
    arguments += ["--out", str(tmp_path / "own-report.json")]
    monkeypatch.setattr(sys, "argv", ["k3", *arguments])
    assert run(arguments) in (0, 2)
    report = load_report(tmp_path / "own-report.json")
    assert report.workload is not None
    assert report.workload.texts is not None
    assert (report.workload.form, report.workload.texts.digest) == ("own", digest_of(own.read_bytes()))
    assert [prompt.group for prompt in report.workload.prompts] == ["own/maths", "own/line 2"]
    assert "of mine" not in (tmp_path / "own-report.json").read_text()
    assert report.preset is not None
    assert "workload.prompts=own.jsonl" in report.preset.overrides
    assert report.gate is not None
    assert not [one for one in report.gate.violations if "answer" in one.message or "argv" in one.message]


def test_a_preset_of_ones_own_is_run_and_judged_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: Path
) -> None:
    mine = own.with_name("preset.toml")
    mine.write_bytes(read_preset("code-tiny").replace(b'name = "code-tiny"', b'name = "mine"'))
    arguments = ["eval", "--preset", str(mine), *SMALL, "--out", str(tmp_path / "report.json")]
    monkeypatch.setattr(sys, "argv", ["k3", *arguments])
    assert run(arguments) in (0, 2)
    report = load_report(tmp_path / "report.json")
    assert report.preset is not None
    assert report.gate is not None
    assert "PLAN_CONTRADICTED" not in [one.code for one in report.gate.violations]
    assert (report.preset.name, report.preset.digest) == ("mine", digest_of(mine.read_bytes()))
    assert "of mine" not in (tmp_path / "report.json").read_text()


def test_the_file_is_read_before_anything_is_loaded(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["eval", "--preset", "code-tiny", "--set", f"workload.prompts={own}"]
    assert run([*asked, "--samples", "2", "--plan"]) == 0
    assert f"ok prompts {own}" in capsys.readouterr().out
    assert run([*asked, "--samples", "3"]) == 3
    assert "2 prompts, fewer than samples 3" in capsys.readouterr().err
    own.write_text('{"text": "a"}\n{"txet": "b"}\n')
    assert run([*asked, "--samples", "1"]) == 3
    assert "own.jsonl line 2: " in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--plan"], []])
def test_turns_for_a_model_without_a_template_are_refused_before_anything_is_loaded(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """The plan and the run say the same, at the same place."""
    own.write_text('{"messages": [{"role": "user", "content": "What is an area?"}]}\n')
    asked = ["eval", "--preset", "code-tiny", "--samples", "1", "--set", f"workload.prompts={own}"]
    monkeypatch.setattr(run_module, "run_rounds", None)
    assert run([*asked, *more]) == 3
    told = f"k3-tiny has no chat template: give text instead of messages in {own}"
    assert told in "".join(capsys.readouterr())


def test_a_style_of_turns_for_a_model_without_a_template_is_refused_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["eval", "--preset", "ftheta-tiny", "--set", "workload.prompt_style=chat"]
    assert (run(asked), run([*asked, "--plan"])) == (3, 3)
    shown = capsys.readouterr()
    assert shown.err == "k3: k3-tiny has no chat template: leave out workload.prompt_style\n"
    assert "MISSING chat template of k3-tiny: k3-tiny has no chat template" in shown.out


@pytest.mark.parametrize("file", ["chat_template.jinja", "chat_template.json", "additional_chat_templates/a.jinja"])
def test_a_template_may_be_in_a_file_of_its_own(tmp_path: Path, file: str) -> None:
    assert not may_have_chat_template(tmp_path, {"tokenizer_config.json": {"chat_template": None}})
    assert may_have_chat_template(tmp_path, {"tokenizer_config.json": {"chat_template": "{{ x }}"}})
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    assert may_have_chat_template(tmp_path, {})


def test_another_file_is_another_plan(own: Path) -> None:
    plain, mine = (plan_of(load_preset("code-tiny", some)) for some in ((), (f"workload.prompts={own}",)))
    assert plain.digest() != mine.digest()


def test_files_of_prompts_are_named_without_their_folder() -> None:
    assert anonymous_setting('workload.prompts="/data/mine/own.jsonl"') == "workload.prompts=own.jsonl"
    assert anonymous_setting("samples=3") == "samples=3"
