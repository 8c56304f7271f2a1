from hypothesis import given
from hypothesis import strategies as st

from tests.gate.differences import differences, merged, within

names = st.sampled_from("abc")
leaves = st.none() | st.integers(0, 3) | st.text("xy", max_size=2)
documents = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    | st.lists(st.fixed_dictionaries({"name": names}, optional={"value": inner}), max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(documents, documents)
def test_all_differences_make_the_second_and_none_the_first(first, second):
    assert merged(first, second, lambda place: True) == second
    assert merged(first, second, lambda place: False) == first
    assert (differences(first, second) == ()) == (first == second)


def test_places_are_named():
    first = {"arms": [{"name": "a", "rows": [{"sample": 0, "repeat": 0, "s": 1.0}]}, {"name": "b"}], "n": [1, 2]}
    second = {"arms": [{"name": "a", "rows": [{"sample": 0, "repeat": 0, "s": 2.0}]}], "n": [1]}
    assert differences(first, second) == ("arms/a/rows/0.0/s", "arms/b", "n")
    assert merged(first, second, lambda place: within(place, "arms/b")) == first | {"arms": first["arms"][:1]}


def test_another_order_is_a_difference():
    rows = [{"name": "a"}, {"name": "b"}]
    assert differences({"rows": rows}, {"rows": rows[::-1]}) == ("rows",)
