"""A validation's faults in plain words: nothing of the library's own wording, and the key that was meant."""

import re
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from reports.records.record import Record
from reports.untrusted.faults import describe_invalid

LIBRARY = re.compile(r"Input should|Value error|Extra inputs|Field required|String should|should have at|Assertion")


class Inner(Record):
    block_size: int = Field(8, ge=1, le=16)
    kind: Literal["ngram", "dflash"] = "ngram"


class Outer(Record):
    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]*$")]
    share: float = Field(0.5, gt=0, lt=1)
    fast: bool = True
    inner: tuple[Inner, ...] = ()
    whole: Inner | None = None

    @model_validator(mode="after")
    def _no_zed(self) -> "Outer":
        if self.name == "zed":
            raise ValueError("choose another name")
        return self


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "name: is missing"),
        ({"name": "a", "shair": 1}, "shair: is no key here; did you mean share?"),
        ({"name": "a", "zzz": 1}, "zzz: is no key here; the keys are name, share, fast, inner, whole"),
        ({"name": "a", "inner": ({"blok_size": 2},)}, "inner.0.blok_size: is no key here; did you mean block_size?"),
        ({"name": "a", "whole": {"king": "ngram"}}, "whole.king: is no key here; did you mean kind?"),
        ({"name": "a", "whole": {"kind": "x"}}, "whole.kind: must be 'ngram' or 'dflash'"),
        ({"name": "a", "whole": {"block_size": 0}}, "whole.block_size: must be at least 1"),
        ({"name": "a", "whole": {"block_size": 17}}, "whole.block_size: must be at most 16"),
        ({"name": "a", "whole": {"block_size": "8"}}, "whole.block_size: must be a whole number"),
        ({"name": "a", "whole": 3}, "whole: must be an object with keys"),
        ({"name": ""}, "name: must not be empty"),
        ({"name": "abcdef"}, "name: must have at most 5 characters"),
        ({"name": "A"}, "name: must be of the form ^[a-z]*$"),
        ({"name": 3}, "name: must be text"),
        ({"name": "a", "share": 1.0}, "share: must be less than 1"),
        ({"name": "a", "share": float("inf")}, "share: must be a finite number"),
        ({"name": "a", "fast": "yes"}, "fast: must be true or false"),
        ({"name": "a", "inner": 3}, "inner: must be a list"),
        ({"name": "zed"}, "choose another name"),
        ({"name": "", "share": 2.0}, "name: must not be empty (and 1 more)"),
    ],
)
def test_a_fault_is_told_in_plain_words(document: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(document)
    assert describe_invalid(caught.value, Outer) == said
    assert not LIBRARY.search(said)
    assert not LIBRARY.search(describe_invalid(caught.value))
