"""The vocabulary of drafters: asked for by kind, found in reports by name, shuffled or not."""

import pytest

from reports import drafters
from reports.drafters import DRAFTERS, SHUFFLED, DrafterKind, drafter_named, register


@pytest.mark.parametrize("kind", DRAFTERS.values(), ids=list(DRAFTERS))
def test_a_name_in_a_report_tells_the_kind(kind: DrafterKind) -> None:
    found = drafter_named(kind.name)
    assert found is not None
    assert found == drafter_named(SHUFFLED + kind.name)
    assert (found.weights, found.port, found.chooses) == (kind.weights, kind.port, kind.chooses)


@pytest.mark.parametrize("name", ["", "prompt lookup", SHUFFLED + SHUFFLED + "ngram", SHUFFLED])
def test_another_name_is_of_no_kind(name: str) -> None:
    assert drafter_named(name) is None


def test_a_kind_is_added_by_one_entry_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafters, "_known", dict(DRAFTERS))
    register(DrafterKind("eagle", "eagle"))
    assert drafter_named("shuffled eagle") == DrafterKind("eagle", "eagle")
    with pytest.raises(ValueError, match="eagle"):
        register(DrafterKind("eagle", "eagle"))
