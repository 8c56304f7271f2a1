"""Real code to complete: modules of the Python standard library, cut at the end of a line inside a function.

A prompt begins where a definition or a statement of the module begins, and ends between two statements of a function,
which has gone on for a while and goes on after it. Every module is a group. Nothing can be right or wrong, so what is
measured is throughput.
"""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reports.records.plan import Texts
from workloads.base import Prompt, PromptStyle, Tokenizer
from workloads.documents import Document, Part, documents, told

GENERATOR_VERSION = 1

BODY_LINES = 3
"""Lines of the function that are shown at least, its docstring not counted, and that are left at least."""

TABLE_LINES = 12
"""A literal of more lines is a table or a long text, and no prompt shows one."""

COMMENT_SHARE = 0.3
"""Most lines of a prompt that may be comments."""

_WALLS = ("copyright", "licence", "license", "warranty")
"""Words of notices that say nothing of the code."""

_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant, ast.JoinedStr)


@dataclass(frozen=True)
class Cut:
    """Lines `first` to `last` of a module, from 1, both included; the function they end in begins at `function`."""

    first: int
    last: int
    function: int


@dataclass(frozen=True)
class StdlibCode:
    """The settings of a run. `lines`: mean number of lines shown before the cut."""

    lines: int
    samples: int
    seed: int
    part: Part = "held_out"

    name = "code"
    form = "stdlib"
    style: ClassVar[PromptStyle] = "completion"
    generator_version = GENERATOR_VERSION

    @property
    def texts(self) -> Texts:
        """The modules that prompts may be cut from."""
        return told(documents(self.part))

    def prompts(self, tokenizer: Tokenizer) -> tuple[Prompt, ...]:
        """One prompt a sample; modules take turns in an order of the seed's own.

        Raises:
            ValueError: more samples than the modules have functions to cut.
        """
        chosen = self._chosen()
        made = []
        for sample in range(self.samples):
            try:
                document, text = next(chosen)
            except StopIteration:
                raise ValueError(f"workload: the standard library gives {sample} prompts, not {self.samples}") from None
            tokens = tuple(tokenizer.encode(tokenizer.bos + text))
            made.append(Prompt(sample, "main", tokens, group=document.name))
        return tuple(made)

    def _chosen(self) -> Iterator[tuple[Document, str]]:
        """Texts to complete, in turns: one of each module, then a second of each that has one, and so on."""
        key = f"code-stdlib/{self.generator_version}/{self.seed}"
        order = list(documents(self.part))
        random.Random(key).shuffle(order)
        left = [(document, self._texts(document, random.Random(f"{key}/{document.name}"))) for document in order]
        while left:
            going = []
            for document, texts in left:
                text = next(texts, None)
                if text is not None:
                    yield document, text
                    going.append((document, texts))
            left = going

    def _texts(self, document: Document, rng: random.Random) -> Iterator[str]:
        """One text a function, functions in a drawn order."""
        size = rng.randint(max(2, round(self.lines * 0.75)), max(2, round(self.lines * 1.25)))
        by_function: dict[int, list[Cut]] = {}
        for cut in cuts(document.text, size):
            by_function.setdefault(cut.function, []).append(cut)
        rows = document.text.split("\n")
        for function in rng.sample(sorted(by_function), len(by_function)):
            cut = rng.choice(by_function[function])
            yield "\n".join(rows[cut.first - 1 : cut.last])


def cuts(text: str, size: int) -> list[Cut]:
    """Every place where a module may be cut so that at most `size` lines are shown, and at least half of them."""
    tree = ast.parse(text)
    rows = text.split("\n")
    starts = _starts(tree)
    tables = [
        (node.lineno, node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, _LITERALS) and (node.end_lineno or 0) - node.lineno >= TABLE_LINES
    ]
    found = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for last in _ends(function):
            first = next((start for start in starts if start > last - size), last)
            clear = all(end < first or start > last for start, end in tables)
            if (
                first <= _first_line(function)
                and last - first >= size // 2
                and clear
                and _is_code(rows[first - 1 : last])
            ):
                found.append(Cut(first, last, function.lineno))
    return found


def _starts(tree: ast.Module) -> list[int]:
    """First lines of the module's statements, and of those of its classes; text that stands alone is none."""
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    nodes = [*tree.body, *(node for one in classes for node in one.body)]
    return sorted(_first_line(node) for node in nodes if not isinstance(node, ast.Expr))


def _ends(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[int]:
    """Last lines of statements in a function that has gone on for a while and goes on after them."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    nodes = [node for part in body for node in ast.walk(part) if isinstance(node, ast.stmt)]
    begin, end = (
        min((node.lineno for node in nodes), default=0),
        max((node.end_lineno or 0 for node in nodes), default=0),
    )
    lasts = {node.end_lineno or 0 for node in nodes}
    return sorted(last for last in lasts if begin + BODY_LINES - 1 <= last <= end - BODY_LINES)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _is_code(rows: list[str]) -> bool:
    comments = sum(row.lstrip().startswith("#") for row in rows)
    return comments <= COMMENT_SHARE * len(rows) and not any(wall in row.lower() for row in rows for wall in _WALLS)
