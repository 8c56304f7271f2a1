"""Prompts of one's own: what a file may hold, and what is refused in one line that names file, line and field."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.records.record import digest_of
from tests.tokenizers_for_tests import model_text
from workloads.own_prompts import MAX_CHARACTERS, MAX_PROMPTS, OwnPrompts

CHAT, PLAIN = model_text(), model_text(chat=False)
ASKED = [{"role": "user", "content": "What is the code?"}]


def put(folder: Path, *lines: Any) -> Path:
    """A file of these lines: JSON values, or what stands in them as it is."""
    file = folder / "own.jsonl"
    rows = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    file.write_bytes(b"\n".join(rows) + b"\n")
    return file


def test_text_is_continued_and_told_by_the_digest_of_the_file(tmp_path: Path) -> None:
    file = put(tmp_path, {"text": "def area(r):", "group": "maths"}, {"text": "x = "}, {"text": "y = "})
    workload = OwnPrompts(file, samples=2, seed=1)
    made = workload.prompts(PLAIN)
    assert [PLAIN.decode(one.tokens) for one in made] == ["def area(r):", "x = "]
    assert [one.group for one in made] == ["own/maths", "own/line 2"]
    assert [one.answer for one in made] == [None, None]
    assert workload.style == "completion"
    assert (workload.texts.name, workload.texts.documents) == ("own.jsonl", 3)
    assert workload.texts.digest == digest_of(file.read_bytes())


def test_messages_go_through_the_models_template_and_answers_are_scored(tmp_path: Path) -> None:
    talk = [{"role": "system", "content": "Be short."}, *ASKED]
    file = put(tmp_path, {"messages": talk, "answer": "BETA-1409"}, {"messages": ASKED, "answer": "x"})
    workload = OwnPrompts(file, samples=1, seed=1)
    (made,) = workload.prompts(CHAT)
    assert str(CHAT._tokenizer.decode(made.tokens)).count("<|im_start|>") == 3
    assert workload.style == "chat"
    assert made.scored("It is BETA-1409.") is True
    assert made.scored("It is BETA.") is False


def test_blank_lines_and_a_byte_order_mark_are_nothing(tmp_path: Path) -> None:
    file = put(tmp_path, b'\xef\xbb\xbf{"text": "a b"}', b"", b"  \r", b'{"text": "c d"}\r')
    made = OwnPrompts(file, samples=2, seed=1).prompts(PLAIN)
    assert [one.group for one in made] == ["own/line 1", "own/line 4"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "line 2: not JSON"),
        (b"[]", "line 2: document: must be an object"),
        (b'"text"', "line 2: document: must be an object"),
        ({}, "line 2: give text or messages"),
        ({"text": "b", "messages": ASKED}, "give text or messages"),
        ({"text": ""}, "line 2: text: "),
        ({"text": " \n"}, "line 2: text: "),
        ({"text": 3}, "line 2: text: "),
        ({"text": "x" * (MAX_CHARACTERS + 1)}, "line 2: text: "),
        ({"text": "b", "anwser": "c"}, "line 2: anwser: is no key here; did you mean answer?"),
        ({"text": "b", "answer": ""}, "line 2: answer: "),
        ({"text": "b", "group": "two\nlines"}, "line 2: group: "),
        ({"text": "a b"}, "line 2: the prompt of line 1 again"),
        ({"text": "b", "answer": "c"}, "line 2: answer: lines 1 and 2 differ; give all or none"),
        ({"messages": ASKED}, "line 2: messages: lines 1 and 2 differ"),
        ({"messages": []}, "line 2: messages: "),
        ({"messages": [{"role": "assistant", "content": "so"}]}, "messages end with a turn of the user"),
        ({"messages": [{"role": "tool", "content": "so"}]}, "line 2: messages.0.role: "),
        (b'{"text": "b", "text": "c"}', "line 2: the key 'text' stands twice"),
        (b'{"text": "\xff"}', "line 2: not UTF-8"),
        (b'{"text": "\\ud800"}', "line 2: a lone surrogate"),
        (b'{"text": ' + b"[" * 90 + b"]" * 90 + b"}", "line 2: nested deeper than"),
        (b'{"text": NaN}', "line 2: NaN"),
        (b'{"text": "b"} {"text": "c"}', "line 2: not JSON: data after"),
    ],
)
def test_what_is_no_prompt_is_refused_in_one_line(tmp_path: Path, line: Any, said: str) -> None:
    file = put(tmp_path, {"text": "a b"}, line)
    with pytest.raises(ValueError, match=r".") as caught:
        OwnPrompts(file, samples=1, seed=1).check()
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{file} line 2: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 400


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    outside = tmp_path / "link.jsonl"
    outside.symlink_to("/etc/hostname")
    large = put(tmp_path, *[{"text": f"a {number}"} for number in range(MAX_PROMPTS + 1)])
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\n")
    for file, said in [
        (tmp_path / "none.jsonl", "cannot be read"),
        (tmp_path, "is a directory"),
        (pipe, "is a named pipe"),
        (outside, "symbolic link"),
        (large, f"{MAX_PROMPTS + 1} lines"),
        (empty, "0 lines"),
    ]:
        with pytest.raises(ValueError, match=said):
            OwnPrompts(file, samples=1, seed=1).check()


def test_fewer_prompts_than_samples_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 prompt, fewer than samples 2; use --samples"):
        OwnPrompts(put(tmp_path, {"text": "a"}), samples=2, seed=1).prompts(PLAIN)


def test_messages_for_a_model_without_a_template_name_the_line(tmp_path: Path) -> None:
    file = put(tmp_path, {"messages": ASKED})
    with pytest.raises(ValueError, match=r"own\.jsonl line 1: messages: the model has no chat template"):
        OwnPrompts(file, samples=1, seed=1).prompts(PLAIN)


def refusal(file: Path) -> str:
    """Why the file is refused; empty if it is not."""
    try:
        OwnPrompts(file, samples=1, seed=1).check()
    except ValueError as error:
        return str(error)
    return ""


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_bytes_break_it(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(data)
    assert "\n" not in refusal(file)
