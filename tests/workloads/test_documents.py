"""The standard library as documents: the same every time, told by digest, without tests, parted by package."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from workloads.documents import KIND, Document, documents, is_held_out, told
from workloads.prose import EXAMPLE, LEAST_CHARACTERS, paragraphs


def test_modules_are_read_once_each_and_sorted() -> None:
    names = [document.name for document in documents()]
    assert names == sorted(set(names))
    assert {f"{KIND}/argparse", f"{KIND}/asyncio.locks", f"{KIND}/json"} < set(names)
    assert not [name for name in names if "test" in name.split(".") or name.startswith(f"{KIND}/idlelib")]


def test_every_document_is_a_module_that_parses() -> None:
    for document in documents()[::40]:
        assert ast.parse(document.text).body


def test_a_document_is_for_training_or_held_out_with_its_whole_package() -> None:
    training, held_out = documents("training"), documents("held_out")
    assert sorted([*training, *held_out], key=lambda document: document.name) == list(documents())
    packages = [{document.name.partition(".")[0] for document in part} for part in (training, held_out)]
    assert packages[0].isdisjoint(packages[1])
    assert 0.1 < len(held_out) / len(documents()) < 0.5


def test_the_digest_is_of_names_and_contents() -> None:
    one, other = Document("stdlib/a", "x = 1\n"), Document("stdlib/a", "x = 2\n")
    renamed = Document("stdlib/b", "x = 1\n")
    digests = {told(found).digest for found in ((one,), (other,), (renamed,), (one, other), (other, one))}
    assert len(digests) == 5
    assert told((one,)) == told((one,))
    assert told((one, other)).documents == 2


@given(st.text(st.characters(codec="ascii", categories=["L"]), min_size=1), st.text(max_size=5))
def test_which_part_a_module_is_in_depends_on_its_package_alone(package: str, module: str) -> None:
    assert is_held_out(f"stdlib/{package}.{module}") == is_held_out(f"stdlib/{package}")


def test_prose_is_whole_sentences_each_once() -> None:
    found = paragraphs(next(document for document in documents() if document.name == f"{KIND}/difflib"))
    assert len(found) == len(set(found)) > 20
    assert all(len(one) >= LEAST_CHARACTERS and one.endswith(".") and "\n" not in one for one in found)
    assert not any(EXAMPLE in one for one in found)
