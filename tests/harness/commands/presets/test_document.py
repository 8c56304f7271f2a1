"""docs/presets.md is what the records say, and its example runs as it stands."""

from pathlib import Path

import pytest

from harness.cli import run
from harness.commands.presets.document import DOCUMENT, EXAMPLE, SECTIONS, presets_markdown


def test_the_page_is_made_of_the_records_of_today() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == presets_markdown()


def test_every_key_says_what_it_means() -> None:
    for section in SECTIONS:
        elsewhere = section.base.model_fields if section.base is not None else {}
        for key, field in section.record.model_fields.items():
            assert field.description or key in elsewhere, f"{section.record.__name__}.{key}"


def test_the_example_is_a_preset_that_would_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert run(["eval", "--preset", str(file), "--plan"]) == 0
    told = capsys.readouterr().out
    assert "Prompt lookup on my prompts" in told
    assert "MISSING" not in told
