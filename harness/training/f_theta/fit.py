"""Ridge regression in one pass: sums over positions, added text by text in float64, then one solution.

With features x and outputs y (both centred by their means over all positions) and s the features' standard
deviations, W = argmin |y - W x / s|^2 / n + ridge |W|^2 has the closed form (C + ridge I)^-1 G, C being the features'
correlation matrix and G their covariance with the outputs (Hoerl and Kennard 1970, "Ridge Regression").
"""

import os
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import ModelError

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
LEAST_SCALE = 1e-6


@dataclass
class Moments:
    """Sums over the positions seen: of features (f,), outputs (o,), and of their products (f, f) and (f, o)."""

    texts: int
    positions: int
    features: Doubles
    outputs: Doubles
    squares: Doubles
    products: Doubles

    @classmethod
    def empty(cls, features: int, outputs: int) -> "Moments":
        """Nothing seen yet."""
        return cls(
            0, 0, np.zeros(features), np.zeros(outputs), np.zeros((features, features)), np.zeros((features, outputs))
        )

    def add(self, features: Floats, outputs: Floats) -> None:
        """Add one text: features (n, f) and outputs (n, o); products in float32, sums in float64."""
        self.texts += 1
        self.positions += len(features)
        self.features += features.sum(axis=0, dtype=np.float64)
        self.outputs += outputs.sum(axis=0, dtype=np.float64)
        self.squares += (features.T @ features).astype(np.float64)
        self.products += (features.T @ outputs).astype(np.float64)

    def save(self, path: Path, recipe: str) -> None:
        """Write everything to `path` at once, with the recipe it belongs to."""
        partial = path.with_name(f"{path.name}.partial")
        with partial.open("wb") as file:
            np.savez(
                file,
                recipe=np.array(recipe),
                counts=np.array([self.texts, self.positions]),
                features=self.features,
                outputs=self.outputs,
                squares=self.squares,
                products=self.products,
            )
        os.replace(partial, path)

    @classmethod
    def load(cls, path: Path, recipe: str, features: int, outputs: int) -> "Moments":
        """What was saved at `path`, or nothing seen yet if there is no such file.

        Raises:
            ModelError: the file is damaged, or belongs to another recipe.
        """
        if not path.exists():
            return cls.empty(features, outputs)
        try:
            with np.load(path, allow_pickle=False) as held:
                stored = str(held["recipe"])
                texts, positions = (int(count) for count in held["counts"])
                names = ("features", "outputs", "squares", "products")
                sums = [np.asarray(held[name], dtype=np.float64) for name in names]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ModelError(f"{path}: cannot be read; delete it to begin again") from error
        shapes = [(features,), (outputs,), (features, features), (features, outputs)]
        if stored != recipe or [array.shape for array in sums] != shapes:
            raise ModelError(f"{path}: belongs to another run; use another --out, or delete it to begin again")
        return cls(texts, positions, *sums)


@dataclass(frozen=True)
class Ridge:
    """A solution: y = ((x - mean) / scale) @ weight + bias, weight (f, o)."""

    mean: Floats
    scale: Floats
    weight: Floats
    bias: Floats

    def predict(self, features: Floats) -> Floats:
        """Outputs (n, o) of features (n, f)."""
        normal = ((features - self.mean) / self.scale).astype(np.float32)
        return (normal @ self.weight + self.bias).astype(np.float32)


def solve(moments: Moments, ridge: float) -> Ridge:
    """The ridge solution of everything seen; `ridge` is added to the diagonal of the correlation matrix.

    Raises:
        ModelError: no position was seen.
    """
    mean, scale, correlation = correlations(moments, ridge)
    centre = moments.outputs / moments.positions
    cross = (moments.products / moments.positions - np.outer(mean, centre)) / scale[:, None]
    weight = np.linalg.solve(correlation, cross)
    return Ridge(
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        weight=weight.astype(np.float32),
        bias=centre.astype(np.float32),
    )


def whitener(moments: Moments, ridge: float) -> Floats:
    """(f, f), the inverse root of the regularised correlation matrix: normalised features times it are uncorrelated.

    Raises:
        ModelError: no position was seen.
    """
    values, vectors = np.linalg.eigh(correlations(moments, ridge)[2])
    root: Floats = ((vectors / np.sqrt(values)) @ vectors.T).astype(np.float32)
    return root


def correlations(moments: Moments, ridge: float) -> tuple[Doubles, Doubles, Doubles]:
    """Mean (f,) and standard deviation (f,) of the features, and their correlation matrix with `ridge` added.

    Raises:
        ModelError: no position was seen.
    """
    count = moments.positions
    if count == 0:
        raise ModelError("f_theta: no position was read, so there is nothing to fit")
    mean = moments.features / count
    covariance = moments.squares / count - np.outer(mean, mean)
    scale: Doubles = np.sqrt(np.maximum(np.diag(covariance), LEAST_SCALE**2))
    return mean, scale, covariance / np.outer(scale, scale) + ridge * np.eye(len(mean))


@dataclass
class Residuals:
    """Sums of squares on text that was not fitted to: of residuals and of centred outputs, by output (o,)."""

    left: Doubles
    whole: Doubles

    @classmethod
    def empty(cls, outputs: int) -> "Residuals":
        """Nothing seen yet."""
        return cls(np.zeros(outputs), np.zeros(outputs))

    def add(self, predicted: Floats, outputs: Floats) -> None:
        """Add one text, (n, o) each; outputs are centred by their own mean."""
        self.left += np.square(predicted - outputs).sum(axis=0, dtype=np.float64)
        self.whole += np.square(outputs - outputs.mean(axis=0)).sum(axis=0, dtype=np.float64)

    def relative(self, columns: slice) -> float:
        """Unexplained share of the variance of some outputs."""
        whole = float(self.whole[columns].sum())
        return float(self.left[columns].sum()) / whole if whole > 0 else 0.0
