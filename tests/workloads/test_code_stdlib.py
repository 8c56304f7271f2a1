"""Real code to complete: where modules are cut, and that every prompt can be made again and knows its module."""

import ast

import pytest

from tests.tokenizers_for_tests import model_text
from workloads.code_stdlib import BODY_LINES, TABLE_LINES, StdlibCode, cuts
from workloads.documents import documents

TEXT = model_text(chat=False)
SOURCES = {document.name: document.text for document in documents()}
MODULE = '''
"""A module."""

import os

TABLE = {
    "a": 1,
    "b": 2,
}


class Reader:
    """Reads."""

    def read(self, path):
        """Read a file."""
        if not os.path.exists(path):
            return None
        with open(path) as file:
            text = file.read()
        lines = text.split()
        count = len(lines)
        return count, lines
'''


def test_a_cut_is_a_line_end_inside_a_function_that_began_and_goes_on() -> None:
    rows = MODULE.split("\n")
    found = cuts(MODULE, 20)
    assert {cut.last for cut in found} == {number for number, row in enumerate(rows, start=1) if "text =" in row}, (
        "three lines of the body before, three after"
    )
    assert {rows[cut.first - 1] for cut in found} == {"import os"}, "the last beginning that is not too far"


def test_a_prompt_shows_no_more_lines_than_asked_for_and_at_least_half() -> None:
    for size in (10, 25, 60):
        for cut in cuts(SOURCES["stdlib/argparse"], size):
            assert size // 2 <= cut.last - cut.first <= size - 1


def test_every_cut_of_a_real_module_is_inside_its_function() -> None:
    source = SOURCES["stdlib/argparse"]
    ends = {node.lineno: node.end_lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    found = cuts(source, 40)
    assert len({cut.function for cut in found}) > 20
    for cut in found:
        assert cut.first <= cut.function + BODY_LINES <= cut.last + 1
        assert cut.last <= (ends[cut.function] or 0) - BODY_LINES


def test_no_prompt_shows_a_table_or_a_notice() -> None:
    table = "TABLE = (\n" + "    0,\n" * TABLE_LINES + ")\n"
    function = "def work(a):\n" + "".join(f"    a += {number}\n" for number in range(12))
    assert cuts(function, 10)
    assert cuts(table + function, 10), "the table is too far away to be shown"
    assert all(cut.first > TABLE_LINES for cut in cuts(table + function, 24))
    assert not cuts(function.replace("a += 2", "a += 2  # Copyright of somebody"), 10)
    assert not cuts(function.replace("    a += 1\n", "    # so\n" * 9), 14)


def test_the_same_seed_gives_the_same_prompts_and_another_gives_others() -> None:
    first, again, other = (StdlibCode(20, 8, seed).prompts(TEXT) for seed in (1, 1, 2))
    assert first == again
    assert {one.digest for one in first}.isdisjoint(one.digest for one in other)
    assert StdlibCode(20, 4, 1).prompts(TEXT) == first[:4], "more samples keep the first ones"


def test_every_prompt_is_a_piece_of_the_module_it_names_and_modules_take_turns() -> None:
    made = StdlibCode(20, 12, 3).prompts(TEXT)
    assert len({one.group for one in made}) == len(made)
    for one in made:
        assert TEXT.decode(one.tokens) in SOURCES[str(one.group)]
        assert one.answer is None


def test_parts_share_no_module() -> None:
    training, held_out = (StdlibCode(20, 12, 3, part).prompts(TEXT) for part in ("training", "held_out"))
    assert {one.group for one in training}.isdisjoint(one.group for one in held_out)


def test_the_texts_are_told() -> None:
    texts = StdlibCode(20, 1, 3).texts
    assert texts.documents == len(documents("held_out"))
    assert texts.digest != StdlibCode(20, 1, 3, "training").texts.digest


def test_more_samples_than_functions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(document for document in documents("held_out") if document.name == "stdlib/functools")
    assert few
    monkeypatch.setattr("workloads.code_stdlib.documents", lambda part: few)
    with pytest.raises(ValueError, match=r"gives \d+ prompts, not 500"):
        StdlibCode(20, 500, 1).prompts(TEXT)
