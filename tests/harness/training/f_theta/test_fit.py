"""The ridge solution against plain least squares, and the sums against a run that was stopped."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import ModelError
from harness.training.f_theta.fit import Moments, Residuals, solve


def data(count: int, seed: int, features: int = 6, outputs: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(count, features)) * [1, 5, 0.1, 2, 1, 3] + 7).astype(np.float32)
    y = x @ rng.normal(size=(features, outputs)) + rng.normal(size=outputs) - 3
    return x, y.astype(np.float32)


def moments_of(*texts: tuple[np.ndarray, np.ndarray]) -> Moments:
    made = Moments.empty(texts[0][0].shape[1], texts[0][1].shape[1])
    for features, outputs in texts:
        made.add(features, outputs)
    return made


def test_a_linear_map_is_found_and_explains_everything_on_other_text() -> None:
    x, y = data(400, seed=1)
    ridge = solve(moments_of((x[:250], y[:250])), 1e-8)
    np.testing.assert_allclose(ridge.predict(x[250:]), y[250:], atol=0.02)
    residuals = Residuals.empty(4)
    residuals.add(ridge.predict(x[250:]), y[250:])
    assert residuals.relative(slice(0, 4)) < 1e-4


def test_predicting_the_mean_leaves_all_of_the_centred_error() -> None:
    _, y = data(50, seed=2)
    residuals = Residuals.empty(4)
    residuals.add(np.broadcast_to(y.mean(axis=0), y.shape), y)
    assert residuals.relative(slice(1, 3)) == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-4, 10.0), st.integers(0, 1000))
def test_a_stronger_ridge_shrinks_the_map_towards_the_mean(strength: float, seed: int) -> None:
    moments = moments_of(data(60, seed))
    weak, strong = solve(moments, strength), solve(moments, strength * 10)
    assert np.linalg.norm(strong.weight) < np.linalg.norm(weak.weight)
    np.testing.assert_allclose(weak.bias, strong.bias)


def test_sums_that_were_saved_and_taken_up_give_the_same_map(tmp_path: Path) -> None:
    first, second = data(30, seed=3), data(40, seed=4)
    moments_of(first).save(tmp_path / "moments.npz", "recipe")
    resumed = Moments.load(tmp_path / "moments.npz", "recipe", 6, 4)
    resumed.add(*second)
    whole = moments_of(first, second)
    assert (resumed.texts, resumed.positions) == (2, 70)
    np.testing.assert_array_equal(solve(resumed, 0.1).weight, solve(whole, 0.1).weight)


def test_sums_of_another_run_or_no_sums_at_all_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "moments.npz"
    assert Moments.load(path, "recipe", 6, 4).texts == 0
    moments_of(data(30, seed=3)).save(path, "recipe")
    with pytest.raises(ModelError, match="another run"):
        Moments.load(path, "other", 6, 4)
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(ModelError, match="cannot be read"):
        Moments.load(path, "recipe", 6, 4)


def test_nothing_read_is_nothing_to_fit() -> None:
    with pytest.raises(ModelError, match="nothing to fit"):
        solve(Moments.empty(3, 2), 0.1)
