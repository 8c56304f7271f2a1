"""How far a restored verifier strays from the unbounded one, and which way the maps would have to move.

It is measured where it is suffered: the text is read as the engines read it, through their bounded cache, every evicted
K/V rebuilt by the maps. Only the last window of a text is compared and only there the gradient is taken: what was read
before it (own K/V still in the window, features) depends on the maps, too, but is taken as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import mlx.core as mx
import numpy as np

from harness.engines.bounded.bounded_verifier import BoundedVerifier
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.f_theta import FThetaRestorer
from harness.engines.mlx.bounded.bound import bound
from harness.engines.mlx.bounded.f_theta import Projection
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import EngineSettings, RestorationSpec
from harness.training.f_theta.reader import Reader, normalised
from harness.training.f_theta.recall import SINK, WINDOW

Shifts = dict[str, mx.array]
"""By name, what is learnt."""


@dataclass(frozen=True)
class Divergence:
    """KL(unbounded || restored) of the next token in nats, the mean over the last WINDOW positions of a text."""

    reader: Reader
    bounded: BoundedVerifier

    @classmethod
    def on(cls, verifier: Verifier, reader: Reader, folder: str) -> "Divergence":
        """Of `verifier`, its cache bounded as the engines bound it for the f_theta in `folder`."""
        spec = RestorationSpec(restoration="f_theta", sink=SINK, window=WINDOW, f_theta=folder, residency="transient")
        bounded = bound(verifier, EngineSettings(restoration=spec))
        assert bounded is not None
        return cls(reader, bounded)

    @property
    def projection(self) -> Projection:
        """The maps of the folder."""
        assert isinstance(self.bounded.restorer, FThetaRestorer)
        found: Projection = self.bounded.restorer.projection
        return found

    def of(self, tokens: Sequence[int], projection: Projection) -> float:
        """The divergence of one text."""
        wanted = self.reader.log_probabilities(tokens, WINDOW)
        cache, _ = self._read_before(tokens, projection)
        return scalar(self._at_end(tokens, cache, wanted))

    def gradient(
        self, tokens: Sequence[int], shifts: Shifts, maps: Callable[[Shifts], Projection]
    ) -> tuple[float, Shifts]:
        """The divergence of one text with the maps that `shifts` make, and its gradient with respect to `shifts`."""
        wanted = self.reader.log_probabilities(tokens, WINDOW)
        cache, restorer = self._read_before(tokens, maps(shifts))

        def loss(moved: Shifts) -> mx.array:
            restorer.projection = maps(moved)
            return self._at_end(tokens, cache, wanted)

        value, gradient = mx.value_and_grad(loss)(shifts)
        mx.eval(value, gradient)
        mx.clear_cache()
        return scalar(value), gradient

    def _read_before(
        self, tokens: Sequence[int], projection: Projection
    ) -> tuple[EvictingCache, FThetaRestorer[Projection]]:
        """Read all but the last window."""
        restorer = FThetaRestorer(projection, "transient")
        cache = replace(self.bounded, restorer=restorer).begin()
        before = tokens[:-WINDOW]
        for start in range(0, len(before), self.bounded.chunk):
            mx.eval(self.bounded.read(mx.array([list(before[start : start + self.bounded.chunk])]), cache))
        assert isinstance(cache.restorer, FThetaRestorer)
        return cache, cache.restorer

    def _at_end(self, tokens: Sequence[int], cache: EvictingCache, wanted: mx.array) -> mx.array:
        """Read the last window and compare."""
        hidden = self.bounded.read(mx.array([list(tokens[-WINDOW:])]), cache)
        found = normalised(self.bounded.backbone, hidden)
        return (mx.exp(wanted) * (wanted - found)).sum(axis=-1).mean()


def scalar(array: mx.array) -> float:
    """The number an array of one holds."""
    return float(np.array(array))
