"""Estimates of one ratio from several runs or machines, pooled by a random-effects model, and whether they agree.

An estimate y_i = theta_i + e_i has a known variance v_i, and the theta_i scatter around the pooled value with variance
tau^2. tau^2 is the one with which the weighted sum of squares meets its expectation, Q(tau^2) = k - 1 (Paule and Mandel
1982; recommended over DerSimonian-Laird by Veroniki et al. 2016). The interval is that of Hartung and Knapp (2001) with
Student's t of k - 1 degrees of freedom, never narrower than the model's own variance (Roever, Knapp, Friede 2015); with
Paule and Mandel's tau^2 their factor is at most 1, so that variance is 1 / sum of weights.

Runs that asked the same prompts err alike: what the prompts add to each error does not average out. How far they err
alike is not known, so then the errors are taken as one (correlation 1), an upper bound:

    V = tau^2 sum u_i^2 + (sum u_i s_i)^2,   u_i the weights that sum to 1, s_i^2 = v_i.

Whether estimates agree is Welch's test (1951), since the v_i are themselves estimates with few degrees of freedom. I^2
is that of Higgins and Thompson (2002). Pure arithmetic; the tests compare it with scipy and with published figures.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gate.figures.statistics.ratio_estimate import TAIL
from gate.figures.statistics.student import f_tail, quantile

LEAST_ERROR = 1e-9
"""Stands for a standard error of zero, which no clock tells."""


@dataclass(frozen=True)
class Study:
    """One estimate: the logarithm of a ratio, its standard error and the degrees of freedom of that."""

    log: float
    error: float
    df: float

    @property
    def ratio(self) -> float:
        """The ratio itself."""
        return math.exp(self.log)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the ratio."""
        half = quantile(self.df, TAIL) * self.error
        return math.exp(self.log - half), math.exp(self.log + half)


@dataclass(frozen=True)
class Pooled:
    """Several estimates as one. `alike` is the probability of such differences among them where there are none; `i2`
    the share of the scatter that is more than their own errors."""

    whole: Study
    studies: int
    tau2: float = 0.0
    i2: float = 0.0
    alike: float = 1.0


def pool_runs(studies: Sequence[Study], *, same_prompts: bool) -> Pooled:
    """Pool at least one run of one machine. What differs from process to process is in the error of each run, so the
    degrees of freedom are those of the errors, unless runs scatter more than their errors say."""
    pooled = _pool(studies, same_prompts)
    if pooled.tau2 > 0 or pooled.studies == 1:
        return pooled
    told = [study.df for study in studies]
    return replace(pooled, whole=replace(pooled.whole, df=min(told) if same_prompts else math.fsum(told)))


def pool_machines(studies: Sequence[Study], *, same_prompts: bool) -> Pooled:
    """Pool at least one machine, as a sample of the machines there are."""
    return _pool(studies, same_prompts)


def _pool(studies: Sequence[Study], same_prompts: bool) -> Pooled:
    if len(studies) == 1:
        return Pooled(studies[0], 1)
    spare = len(studies) - 1
    logs = [study.log for study in studies]
    errors = [max(study.error, LEAST_ERROR) for study in studies]
    tau2 = _between(logs, errors)
    weights = [1 / (error**2 + tau2) for error in errors]
    total = math.fsum(weights)
    variance = 1 / total
    if same_prompts:
        shares = [weight / total for weight in weights]
        alike = math.fsum(share * error for share, error in zip(shares, errors, strict=True)) ** 2
        variance = max(variance, tau2 * math.fsum(share**2 for share in shares) + alike)
    df = min(spare, *(study.df for study in studies)) if same_prompts else spare
    q = _scatter(logs, errors, 0.0)
    i2 = max(0.0, (q - spare) / q) if q > 0 else 0.0
    whole = Study(_mean(logs, weights), math.sqrt(variance), df)
    return Pooled(whole, len(studies), tau2, i2, _alike(studies, errors, q))


def _mean(logs: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(log * weight for log, weight in zip(logs, weights, strict=True)) / math.fsum(weights)


def _scatter(logs: Sequence[float], errors: Sequence[float], tau2: float) -> float:
    """The weighted sum of squares around the weighted mean: Cochran's Q at tau^2 = 0."""
    weights = [1 / (error**2 + tau2) for error in errors]
    mean = _mean(logs, weights)
    return math.fsum(weight * (log - mean) ** 2 for log, weight in zip(logs, weights, strict=True))


def _between(logs: Sequence[float], errors: Sequence[float]) -> float:
    """Paule and Mandel's tau^2, by halving: the scatter falls as tau^2 grows."""
    spare = len(logs) - 1
    if _scatter(logs, errors, 0.0) <= spare:
        return 0.0
    low, high = 0.0, (max(logs) - min(logs)) ** 2
    while _scatter(logs, errors, high) > spare:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _scatter(logs, errors, middle) > spare else (low, middle)
    return high


def _alike(studies: Sequence[Study], errors: Sequence[float], q: float) -> float:
    """Welch's test of equal means."""
    count = len(studies)
    weights = [1 / error**2 for error in errors]
    total = math.fsum(weights)
    spread = math.fsum((1 - weight / total) ** 2 / study.df for weight, study in zip(weights, studies, strict=True))
    ratio = q / (count - 1) / (1 + 2 * (count - 2) * spread / (count**2 - 1))
    return f_tail(ratio, count - 1, (count**2 - 1) / (3 * spread))
