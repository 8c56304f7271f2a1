import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ledger.pointer import DanglingError, resolve, steps

DOCUMENT = {
    "claims": [{"value": 1.5}, {"value": 2.5}],
    "arms": [{"name": "a/b", "n": 7}, {"name": "twice"}, {"name": "twice"}, {"name": "0", "n": 9}],
    "a/b": {"m~n": 8},
    "": 0,
    "0": "zero",
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/claims/1/value", 2.5),
        ("/arms/a~1b/n", 7),
        ("/arms/0/n", 9),
        ("/a~1b/m~0n", 8),
        ("/", 0),
        ("/0", "zero"),
    ],
)
def test_a_pointer_leads_to_its_value(pointer: str, value: object) -> None:
    assert resolve(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    "pointer",
    [
        "claims",
        "/claims/2",
        "/claims/-1",
        "/claims/-",
        "/claims/01",
        "/claims/1.0",
        "/claims/1/value/x",
        "/claims/1/values",
        "/claims/٣",
        "/claims/" + "9" * 40,
        "/nothing",
        "/arms/twice",
        "/arms/x",
    ],
)
def test_a_pointer_to_nothing_dangles(pointer: str) -> None:
    with pytest.raises(DanglingError):
        resolve(DOCUMENT, pointer)


@given(st.lists(st.text(max_size=5), max_size=4))
def test_any_key_can_be_written_as_a_step(keys: list[str]) -> None:
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
    assert list(steps(pointer)) == keys
