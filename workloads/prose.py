"""Prose that is on every machine: the paragraphs of the docstrings of a module, without examples, tables and lists."""

import ast
import re

from workloads.documents import Document

LEAST_CHARACTERS = 80
"""Of a paragraph."""

LETTER_SHARE = 0.9
"""Least share of a paragraph that are letters and spaces; the rest of a language's text is punctuation."""

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BLANK = re.compile(r"\n\s*\n")
EXAMPLE = ">>>"
"""What begins an example."""


def paragraphs(document: Document) -> tuple[str, ...]:
    """Paragraphs of whole sentences, each one line and each once, in the order in which the module has them."""
    nodes = (node for node in ast.walk(ast.parse(document.text)) if isinstance(node, _DOCUMENTED))
    texts = [text for node in sorted(nodes, key=_line) if (text := ast.get_docstring(node))]
    lines = (" ".join(part.split()) for text in texts for part in _BLANK.split(text) if EXAMPLE not in part)
    return tuple(dict.fromkeys(line for line in lines if _is_prose(line)))


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _is_prose(line: str) -> bool:
    letters = sum(char.isalpha() or char == " " for char in line)
    return len(line) >= LEAST_CHARACTERS and letters >= LETTER_SHARE * len(line) and line.endswith(".")
