"""The vocabulary of engines: no two alike, and one more by one entry."""

import pytest

from reports import engines
from reports.engines import ENGINES, MLX, ORACLE, TORCH, EngineKind, register


def test_no_two_engines_share_a_name_or_a_loop() -> None:
    assert [kind.name for kind in ENGINES.values()] == list(ENGINES)
    assert len({kind.decode_loop for kind in ENGINES.values()}) == len(ENGINES)


def test_on_pytorch_only_the_oracle_s_loop_is_another_one() -> None:
    assert ORACLE.on(TORCH).decode_loop == "greedy_step"
    for kind in ENGINES.values():
        assert kind.on(MLX) == kind
        assert kind is ORACLE or kind.on(TORCH) == kind


def test_an_engine_is_added_by_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_known", {})
    kind = EngineKind("lookahead", "lookahead_step", foreign=True)
    register(kind)
    assert engines._known == {"lookahead": kind}


@pytest.mark.parametrize(
    "kind", [EngineKind(ORACLE.name, "another_loop"), EngineKind("another", ORACLE.decode_loop)], ids=["name", "loop"]
)
def test_what_is_taken_is_refused(kind: EngineKind) -> None:
    before = dict(ENGINES)
    with pytest.raises(ValueError, match="ar \\(generate_step\\) is there"):
        register(kind)
    assert dict(ENGINES) == before
