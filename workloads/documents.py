"""Real text that is on every machine: the Python standard library of the running interpreter, a module a document.

What is read is told by digest, since another interpreter has other modules. Whole packages are set apart for training
or held out, by a hash of their names, so that weights can be measured on documents that they never saw.
"""

import hashlib
import sys
import sysconfig
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from platform import python_implementation, python_version
from typing import Literal

from reports.records.plan import Texts

Part = Literal["all", "training", "held_out"]
"""Which documents: every one, those that weights of K3's own may be trained on, or the others."""

KIND = "stdlib"
"""The kind of their groups."""

HELD_OUT_EVERY = 4
"""About one package in so many is held out."""

_LEFT_OUT = frozenset({
    "__hello__", "__phello__", "antigravity", "distutils", "encodings", "ensurepip", "idlelib", "lib2to3",
    "pydoc_data", "test", "this", "tkinter", "turtle", "turtledemo",
})  # fmt: skip
"""Tests, generated tables, jokes, and what distributions package apart."""


@dataclass(frozen=True)
class Document:
    """A text with a name of its own, `stdlib/argparse`: the group of all prompts that are made from it."""

    name: str
    text: str


def documents(part: Part = "all") -> tuple[Document, ...]:
    """The modules of the standard library, sorted by name; of packages every module, without their tests."""
    wanted = {"all": (True, False), "training": (False,), "held_out": (True,)}[part]
    return tuple(document for document in _standard_library() if is_held_out(document.name) in wanted)


def is_held_out(name: str) -> bool:
    """The package of the document `name` is none that weights of K3's own are trained on."""
    package = name.partition("/")[2].partition(".")[0]
    return hashlib.sha256(package.encode()).digest()[0] % HELD_OUT_EVERY == 0


def told(found: tuple[Document, ...]) -> Texts:
    """What a report says of these documents."""
    total = hashlib.sha256()
    for document in found:
        total.update(f"{document.name}\0".encode())
        total.update(hashlib.sha256(document.text.encode()).digest())
    name = f"standard library of {python_implementation()} {python_version()}"
    return Texts(name=name, documents=len(found), digest=f"sha256:{total.hexdigest()}")


@cache
def _standard_library() -> tuple[Document, ...]:
    root = Path(sysconfig.get_path("stdlib"))
    found = []
    for top in sorted(sys.stdlib_module_names - _LEFT_OUT):
        file = root / f"{top}.py"
        files = [file] if file.is_file() else sorted((root / top).rglob("*.py"))
        found += [_document(root, file) for file in files if not {"test", "tests"} & set(file.parts[len(root.parts) :])]
    return tuple(sorted(found, key=lambda document: document.name))


def _document(root: Path, file: Path) -> Document:
    parts = file.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    with tokenize.open(file) as source:
        return Document(f"{KIND}/{name}", source.read())
