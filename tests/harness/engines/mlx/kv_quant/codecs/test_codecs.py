"""Every codec, by its file: what it stores, how its error falls with its rate, and what it refuses."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import EngineError, UsageError
from harness.engines.codec_names import codec_kinds
from harness.engines.mlx.kv_quant.codec import entropy, make_codec

RATED = ["affine{}", "affine{}-g32", "hadamard-affine{}", "d4-{}", "hadamard-d4-{}", "e8-{}", "hadamard-e8-{}"]
NAMES = ["identity", *(name.format(4) for name in RATED)]


def heads(seed: int, positions: int = 40, size: int = 64) -> mx.array:
    """Gaussian K/V, (1, heads, positions, head size)."""
    return mx.random.normal((1, 2, positions, size), key=mx.random.key(seed))


def error(name: str, x: mx.array) -> float:
    """Relative error of energy."""
    codec = make_codec(name)
    lossy = codec.decode(codec.encode(x))
    assert lossy.shape == x.shape
    return float((mx.square(lossy - x).sum() / mx.square(x).sum()).item())


def bits(name: str, x: mx.array) -> float:
    """Stored bits a value."""
    return 8 * make_codec(name).encode(x).nbytes / x.size


def test_every_file_is_a_codec() -> None:
    assert set(codec_kinds()) == {"affine", "d4", "e8", "hadamard", "identity"}
    for kind in codec_kinds():
        assert any(kind in name for name in NAMES)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_identity_loses_nothing(dtype: mx.Dtype) -> None:
    x = heads(0).astype(dtype)
    codec = make_codec("identity")
    encoded = codec.encode(x)
    assert mx.array_equal(codec.decode(encoded).astype(dtype), x)
    assert encoded.nbytes == x.nbytes
    assert codec.entropy_bits(encoded) == 8 * x.nbytes


@pytest.mark.parametrize(
    ("name", "expected"),
    [("affine8", 8.5), ("affine4", 4.5), ("affine4-g32", 5.0), ("affine4-g128", 4.25), ("hadamard-affine3", 3.5),
     ("d4-4", 4.5), ("d4-3", 3.5), ("d4-6", 6.5), ("e8-4", 4.5), ("e8-3-g32", 4.0), ("e8-2", 2.5), ("e8-6", 6.5)],
)  # fmt: skip
def test_bits_are_those_of_all_arrays(name: str, expected: float) -> None:
    assert bits(name, heads(1, size=128)) == expected


@pytest.mark.parametrize("name", RATED)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**20), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_the_error_falls_with_the_rate(name: str, seed: int, scale: float, shift: float) -> None:
    x = scale * (heads(seed) + shift)
    errors = [error(name.format(rate), x) for rate in (3, 4, 6)]
    assert errors[0] > errors[1] > errors[2] > 0


@pytest.mark.parametrize("name", [*NAMES, "d4-2", "d4-3", "d4-6", "e8-2", "e8-3", "e8-6"])
def test_entropy_is_no_more_than_what_is_stored(name: str) -> None:
    codec, x = make_codec(name), heads(3)
    encoded = codec.encode(x)
    assert 0 < codec.entropy_bits(encoded) <= 8 * encoded.nbytes


def test_a_lattice_beats_the_integers_at_their_rate() -> None:
    x = heads(4, positions=400)
    affine, d4, e8 = (error(name, x) for name in ("affine4", "d4-4", "e8-4"))
    assert e8 < d4 < affine


def test_a_rotation_spreads_an_outlier_channel() -> None:
    x = heads(5) * mx.where(mx.arange(64) == 9, 30.0, 1.0)
    assert error("hadamard-affine4", x) < 0.5 * error("affine4", x)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**20), name=st.sampled_from(NAMES))
def test_a_position_is_stored_alike_wherever_it_stands(seed: int, name: str) -> None:
    """What a haystack's K/V become does not depend on the question after them."""
    codec, x = make_codec(name), heads(seed, positions=9)
    assert mx.array_equal(codec.decode(codec.encode(x))[:, :, 2:5], codec.decode(codec.encode(x[:, :, 2:5])))


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("hadamard")])
def test_equal_values_are_kept(name: str) -> None:
    x = mx.full((1, 1, 3, 64), 0.75)
    assert mx.allclose(make_codec(name).decode(make_codec(name).encode(x)), x, atol=2e-3)


def test_what_float16_cannot_scale_is_refused() -> None:
    for name in ("affine4", "d4-4", "e8-4"):
        with pytest.raises(EngineError, match="beyond float16"):
            make_codec(name).encode(heads(6) * 1e7)


@pytest.mark.parametrize(("name", "size"), [("affine4", 48), ("e8-4", 96), ("hadamard-affine4-g32", 96)])
def test_heads_that_do_not_fit_are_refused(name: str, size: int) -> None:
    with pytest.raises(EngineError):
        make_codec(name).encode(heads(7, size=size))


@pytest.mark.parametrize(
    "name", ["affine7", "affine", "affine4-g48", "d4-5", "e8-8", "identity4", "hadamard", "affine4-e8-4", "nothing"]
)
def test_what_is_no_codec_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        make_codec(name)


def test_entropy_of_known_frequencies() -> None:
    assert entropy(mx.array([0, 1, 2, 3])) == pytest.approx(8.0)
    assert entropy(mx.array([5, 5, 5, 5])) == 0.0
    assert entropy(mx.array(np.array([0, 0, 0, 1]))) == pytest.approx(4 * 0.8112781)
