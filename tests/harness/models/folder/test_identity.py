import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.models.folder.identity import identity_of, known_identity, tokenizer_files

Make = Callable[..., Any]


@pytest.fixture
def folder(cache: Path, tiny_llama: Make, converted: Make) -> Path:
    made: Path = converted(tiny_llama())
    return made


def edited(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("config.json", "config"),
        ("generation_config.json", "config"),
        ("tokenizer.json", "tokenizer"),
        ("tokenizer_config.json", "tokenizer"),
    ],
)
def test_each_file_that_decides_tokens_makes_another_model(folder: Path, file: str, part: str) -> None:
    before = identity_of(folder)
    edited(folder / file, another=True)
    after = identity_of(folder)
    assert {name for name in ("weights", "config", "tokenizer") if getattr(before, name) != getattr(after, name)} == {
        part
    }


@pytest.mark.parametrize("name", ["chat_template.jinja", "additional_chat_templates/tools.jinja", "merges.txt"])
def test_a_template_or_vocabulary_file_is_part_of_the_tokenizer(folder: Path, name: str) -> None:
    before = identity_of(folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("x")
    assert identity_of(folder).tokenizer != before.tokenizer


@pytest.mark.parametrize("name", ["README.md", "k3.json", "manifest.json", "model.safetensors.index.json", ".DS_Store"])
def test_what_decides_no_token_is_no_part_of_the_identity(folder: Path, name: str) -> None:
    before = identity_of(folder)
    (folder / name).write_text('{"weight_map": {}}')
    assert identity_of(folder) == before


def test_a_folder_without_tokenizer_has_none(folder: Path) -> None:
    before = identity_of(folder)
    for path in tokenizer_files(folder):
        path.unlink()
    assert identity_of(folder) == before.replace(tokenizer=None)


def test_an_identity_is_known_only_where_the_weights_were_read(folder: Path) -> None:
    assert known_identity(folder) is None
