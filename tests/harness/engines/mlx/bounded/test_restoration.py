"""From what an arm asks to what it means on a model."""

import mlx.core as mx
import pytest

from harness.base.errors import EngineError, UsageError
from harness.engines.bounded.restoration import (
    AblateRestorer,
    Evicted,
    IdentityRestorer,
    exact_layers,
    make_restorer,
    resolve_restoration,
)
from harness.engines.spec import RestorationSpec
from reports.records.measurement import Restoration

TYPES = ("sliding_attention", "sliding_attention", "full_attention")


@pytest.mark.parametrize(
    ("spec", "layers"),
    [("none", ()), ((), ()), ((2, 0, 2), (0, 2)), ("full_attention", (2,)), ("sliding_attention", (0, 1))],
)
def test_exact_layers_are_listed_or_named(spec: tuple[int, ...] | str, layers: tuple[int, ...]) -> None:
    assert exact_layers(spec, TYPES) == layers


@pytest.mark.parametrize("spec", [(3,), (-1,), "chunked_attention"])
def test_layers_the_model_lacks_are_refused(spec: tuple[int, ...] | str) -> None:
    with pytest.raises(UsageError, match="exact_layers"):
        exact_layers(spec, TYPES)


def test_restored_kv_stay_resident_and_ablated_ones_do_not_exist() -> None:
    identity = resolve_restoration(
        RestorationSpec(restoration="identity", exact_layers="full_attention", eviction="after"), TYPES
    )
    assert identity == Restoration(
        mode="identity", exact_layers=(2,), sink=4, window=64, eviction="after", residency="resident"
    )
    assert resolve_restoration(RestorationSpec(restoration="ablate"), TYPES).residency is None
    assert resolve_restoration(RestorationSpec(), TYPES) == Restoration(mode="none")


def test_identity_returns_what_left_and_ablation_refuses_to_return() -> None:
    moved = Evicted(0, range(4, 6), mx.ones((1, 1, 2, 8)), mx.zeros((1, 1, 2, 8)))
    keys, values = make_restorer("identity").restore(moved)
    assert keys is moved.keys
    assert values is moved.values
    assert IdentityRestorer().policy(0) == "restore"
    assert AblateRestorer().policy(0) == "drop"
    with pytest.raises(EngineError, match="puts nothing back"):
        AblateRestorer().restore(moved)
