"""Tokenizer files that libraries choke on: one line that names the file, and soon."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ModelError
from harness.base.trust import trusting_code
from harness.models.folder.model_folder import open_folder
from harness.models.tokenizer import check_tokenizer, open_tokenizer

Make = Callable[..., Any]


@pytest.fixture
def folder(cache: Path, tiny_llama: Make, converted: Make) -> Path:
    made: Path = converted(tiny_llama())
    return made


def edited(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def complaint(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        open_tokenizer(open_folder(folder))
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_an_honest_tokenizer_is_opened_and_tried_once(folder: Path, cache: Path) -> None:
    tokenizer = open_tokenizer(open_folder(folder))
    assert tokenizer.decode(tokenizer.encode("the code")) == "the code"
    (tried,) = (cache / "tokenizers").iterdir()
    before = tried.stat().st_mtime_ns
    check_tokenizer(open_folder(folder))
    assert tried.stat().st_mtime_ns == before
    edited(folder / "tokenizer.json", version="1.0", truncation=None)
    check_tokenizer(open_folder(folder))
    assert len(list((cache / "tokenizers").iterdir())) == 2


def test_a_folder_without_a_vocabulary_has_no_tokenizer(folder: Path) -> None:
    """transformers makes an empty one of nothing, and every text becomes one token."""
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json: missing, and no other vocabulary" in complaint(folder)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": {"type": "BPE", "vocab": {"a": "0"}, "merges": []}}, "no working tokenizer"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["x y z"]}}, "no working tokenizer"),
        ({"model": {"type": "Abacus"}}, "no working tokenizer"),
        ({"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "u"}}, "no working tokenizer"),
        ({"added_tokens": 5}, "no working tokenizer"),
        ({"normalizer": {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}}, "no working tokenizer"),
        ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a|a?)+$"}}}, "no working tokenizer"),
        ({"model": None}, "no working tokenizer"),
    ],
)
def test_a_tokenizer_that_cannot_be_is_named(folder: Path, changes: Any, reason: str) -> None:
    edited(folder / "tokenizer.json", **changes)
    assert f"tokenizer.json: {reason}" in complaint(folder)


def test_a_text_that_runs_without_end_is_ended(folder: Path) -> None:
    pattern = {"type": "Replace", "pattern": {"Regex": "a*a*(?!a)(?=a)"}, "content": "z"}
    edited(folder / "tokenizer.json", normalizer=pattern)
    assert "no working tokenizer (takes more than 5 s of processor time)" in complaint(folder)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "no working tokenizer"),
        (b"[1]", "no working tokenizer"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested deeper"),
        (b"\xff\xfe{}", "no working tokenizer"),
        (b"[" + b"[]," * 5_000_000 + b"[]]", "more than 4000000 values"),
    ],
)
def test_a_file_that_is_no_such_json_is_named(folder: Path, text: bytes, reason: str) -> None:
    (folder / "tokenizer.json").write_bytes(text)
    assert f"tokenizer.json: {reason}" in complaint(folder)


def test_a_class_that_transformers_does_not_have_is_refused_by_name(folder: Path) -> None:
    edited(folder / "tokenizer_config.json", tokenizer_class="AbacusTokenizer")
    assert "tokenizer_config.json: tokenizer_class: transformers" in complaint(folder)
    assert "has no AbacusTokenizer" in complaint(folder)
    (folder / "abacus.py").write_text("")
    with trusting_code():
        assert open_tokenizer(open_folder(folder))


@pytest.mark.parametrize(
    "changes",
    [
        {"added_tokens_decoder": {"x": {"content": "<a>"}}},
        {"added_tokens_decoder": 5},
        {"bos_token": {"a": 1}},
        {"extra_special_tokens": 5},
    ],
)
def test_settings_that_transformers_chokes_on_are_one_line(folder: Path, changes: Any) -> None:
    edited(folder / "tokenizer_config.json", **changes)
    assert "transformers cannot open its tokenizer" in complaint(folder)
