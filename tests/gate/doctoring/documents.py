"""The text of the file: what no record can hold, but an editor can write."""

import json
import random
from typing import Any

from tests.gate.doctoring.doctoring import document_doctoring

Document = dict[str, Any]


def _bytes(document: Document) -> bytes:
    return json.dumps(document).encode()


def _rows(document: Document) -> list[Document]:
    return [row for arm in document.get("arms", []) for row in arm.get("measurements", [])]


def _better(document: Document) -> Document:
    """A headline doubled: what the malformed file is to smuggle past."""
    for claim in document.get("claims", []):
        claim["value"] = claim["value"] * 2 + 1
    return document


@document_doctoring
def older_schema(document: Document, rng: random.Random) -> bytes:
    """The schema is said to be of before all rules."""
    return _bytes(_better(document) | {"schema_version": rng.choice((0, 1))})


@document_doctoring
def newer_schema(document: Document, rng: random.Random) -> bytes:
    """The schema is said to be one that no rule knows yet."""
    return _bytes(_better(document) | {"schema_version": rng.choice((3, 99))})


@document_doctoring
def schema_as_text(document: Document, rng: random.Random) -> bytes:
    """The schema version is a string, a boolean, a fraction or missing."""
    _better(document)["schema_version"] = rng.choice(("2", True, 2.5, None))
    return _bytes(document)


@document_doctoring
def number_as_text(document: Document, rng: random.Random) -> bytes:
    """A number is written as a string."""
    for claim in document["claims"][:1] or [document]:
        claim["value"] = "2.58"
    return _bytes(document)


@document_doctoring
def boolean_as_number(document: Document, rng: random.Random) -> bytes:
    """A count is written as a boolean."""
    for row in _rows(document)[:1] or [document]:
        row["repeat"] = False
    return _bytes(_better(document))


@document_doctoring
def not_a_number(document: Document, rng: random.Random) -> bytes:
    """A time or a value is NaN or infinite."""
    target = rng.choice(_rows(document) or document["claims"] or [document])
    target["decode_s" if "prefill_s" in target else "value"] = rng.choice((float("nan"), float("inf")))
    return _bytes(document)


@document_doctoring
def huge_number(document: Document, rng: random.Random) -> bytes:
    """A number is too large for a float, or negative where it counts."""
    data = json.dumps(_better(document))
    return data.replace('"value": ', f'"value": {rng.choice(("1e999", "-1e999"))} , "old": ', 1).encode()


@document_doctoring
def key_twice(document: Document, rng: random.Random) -> bytes:
    """A key stands twice: one reader sees the first value, another the second."""
    data = json.dumps(document)
    return data.replace('"value": ', '"value": 50.0, "value": ', 1).encode()


@document_doctoring
def unknown_field(document: Document, rng: random.Random) -> bytes:
    """A field that no reader knows tells the headline."""
    document["headline"] = "2.58x faster, recall 1.0"
    return _bytes(document)


@document_doctoring
def misspelt_kind(document: Document, rng: random.Random) -> bytes:
    """The kind is misspelt, so that no rule asks for its rows."""
    document["kind"] = rng.choice(("nia", "niah ", "NIAH", "speed"))
    return _bytes(_better(document))


@document_doctoring
def misspelt_mode(document: Document, rng: random.Random) -> bytes:
    """A restoration mode or a metric is misspelt."""
    for arm in document.get("arms", []):
        if "restoration" in arm:
            arm["restoration"]["mode"] = "f-theta"
    for claim in document["claims"]:
        claim["metric"] = claim["metric"].replace("_", "-")
    return _bytes(document)


@document_doctoring
def missing_field(document: Document, rng: random.Random) -> bytes:
    """A field that must be there is not."""
    for claim in document["claims"]:
        del claim["status"]
    if not document["claims"]:
        del document["report_id"]
    return _bytes(document)


@document_doctoring
def recall_of_seven(document: Document, rng: random.Random) -> bytes:
    """A share is larger than one."""
    for claim in document["claims"]:
        claim["value"] = 7.0
    return _bytes(document)


@document_doctoring
def two_documents(document: Document, rng: random.Random) -> bytes:
    """A second, better report follows in the same file."""
    return _bytes(document) + b"\n" + _bytes(_better(document))


@document_doctoring
def trailing_text(document: Document, rng: random.Random) -> bytes:
    """Text follows the document."""
    return _bytes(_better(document)) + b" 2.58x"


@document_doctoring
def cut_short(document: Document, rng: random.Random) -> bytes:
    """The file ends in the middle."""
    data = _bytes(document)
    return data[: len(data) // 2]
