"""Nearest points of D4 and E8 against brute force, their second moments, and packed codes."""

import itertools

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engines.mlx.kv_quant.codec import make_codec
from harness.engines.mlx.kv_quant.codecs.d4 import D4, LEVELS
from harness.engines.mlx.kv_quant.codecs.e8 import BITS, E8, nearest_e8
from harness.engines.mlx.kv_quant.lattice import nearest_even, pack, unpack

SECOND_MOMENTS = {"Z": 0.083333, "D4": 0.076603, "E8": 0.071682}
"""Normalised second moments (Conway and Sloane, Sphere Packings, Lattices and Groups, table 2.3)."""
coordinate = st.floats(-1.5, 4.5, width=32)


def box(levels: int, size: int) -> np.ndarray:
    """All points with an even sum."""
    points = np.array(list(itertools.product(range(levels), repeat=size)))
    return points[points.sum(axis=1) % 2 == 0]


@settings(max_examples=200, deadline=None)
@given(y=st.lists(coordinate, min_size=4, max_size=4))
def test_no_point_of_d4_in_the_box_is_nearer(y: list[float]) -> None:
    found = np.array(nearest_even(mx.array([y]), 4)[0])
    assert found.sum() % 2 == 0
    assert ((found >= 0) & (found <= 3)).all()
    nearest = np.square(box(4, 4) - np.array(y)).sum(axis=1).min()
    assert np.square(found - y).sum() == pytest.approx(nearest, abs=1e-4)


BOX8 = box(3, 8)


@settings(max_examples=100, deadline=None)
@given(y=st.lists(st.floats(-1.0, 3.5, width=32), min_size=8, max_size=8))
def test_no_point_of_e8_in_the_box_is_nearer(y: list[float]) -> None:
    points, shifted = nearest_e8(mx.array([y]), 3)
    found = np.array(points[0]) + 0.5 * np.array(shifted[0])
    candidates = np.concatenate([BOX8, BOX8 + 0.5])
    nearest = np.square(candidates - np.array(y)).sum(axis=1).min()
    assert np.square(found - y).sum() == pytest.approx(nearest, abs=1e-4)


@given(st.lists(st.integers(0, 18), min_size=4, max_size=4))
def test_a_point_of_the_lattice_is_its_own_nearest(point: list[int]) -> None:
    point[0] -= sum(point) % 2 if point[0] else -(sum(point) % 2)
    assert nearest_even(mx.array([point], dtype=mx.float32), 19)[0].tolist() == point


def second_moment(errors: mx.array, volume: float, size: int) -> float:
    """Mean squared error a dimension over volume^(2 / size)."""
    return float(mx.square(errors).mean().item()) / volume ** (2 / size)


def test_second_moments_are_the_known_ones() -> None:
    """Points drawn well inside a large box, so that its walls play no part."""
    y = mx.random.uniform(50, 150, (200_000, 8), key=mx.random.key(3))
    integers = second_moment(y - mx.round(y), 1, 1)
    d4 = second_moment((lambda part: part - nearest_even(part, 200))(y.reshape(-1, 4)), 2, 4)
    points, shifted = nearest_e8(y, 200)
    e8 = second_moment(y - points - 0.5 * shifted, 1, 8)
    found = {"Z": integers, "D4": d4, "E8": e8}
    assert found == pytest.approx(SECOND_MOMENTS, rel=3e-3)


def lattice_values(codec: D4 | E8, seed: int) -> mx.array:
    """Points of the codec's lattice that reach both ends of the box, so that they are scaled to themselves."""
    rng = np.random.default_rng(seed)
    size = 4 if isinstance(codec, D4) else 8
    points = rng.integers(0, codec.levels, (64 // size, size))
    points[0, :2] = 0, codec.levels - 1
    for block in points:
        if block.sum() % 2:
            block[3] += 1 if block[3] == 0 else -1
    return mx.array(points.reshape(1, 1, 1, 64), dtype=mx.float32)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**20), bits=st.sampled_from(sorted(LEVELS)))
def test_points_of_d4_are_stored_without_loss(seed: int, bits: int) -> None:
    codec = D4(bits, 64)
    x = lattice_values(codec, seed)
    assert mx.array_equal(codec.decode(codec.encode(x)), x)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**20), bits=st.sampled_from(BITS))
def test_encoding_what_was_decoded_changes_no_point_of_e8(seed: int, bits: int) -> None:
    """Decoded points at a quarter's offset go through encode and decode again unchanged, given the same scale."""
    codec = E8(bits, 64)
    y = mx.random.uniform(0, codec.levels - 0.5, (40, 8), key=mx.random.key(seed))
    points, shifted = nearest_e8(y, codec.levels)
    again, shifted_again = nearest_e8(points + 0.5 * shifted, codec.levels)
    assert mx.array_equal(again, points)
    assert mx.array_equal(shifted_again, shifted)


@pytest.mark.parametrize("name", ["d4-2", "d4-3", "d4-4", "d4-6", "e8-2", "e8-3", "e8-4", "e8-6"])
def test_stored_codes_give_the_point_that_was_nearest(name: str) -> None:
    """Through packing and unpacking, no value ends up further off than its neighbours in the lattice are."""
    codec = make_codec(name)
    x = mx.random.normal((1, 1, 50, 64), key=mx.random.key(8))
    encoded = codec.encode(x)
    step = encoded.arrays["step"].astype(mx.float32)
    assert (mx.abs(codec.decode(encoded) - x) / step).max().item() < 1.05


@settings(deadline=None)
@given(st.sampled_from([8, 12, 16, 24, 32]), st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=16))
def test_packed_codes_come_back(bits: int, codes: list[int]) -> None:
    even = codes[: len(codes) // 2 * 2]
    made = mx.array([code % 2**bits for code in even], dtype=mx.uint32)[None]
    packed = pack(made, bits)
    assert packed.nbytes == len(even) * bits // 8
    assert mx.array_equal(unpack(packed, bits), made)
