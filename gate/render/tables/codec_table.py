"""A codec run in a table: an arm a row, means over its samples. What the rows do not hold is none."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from gate.figures.codecs import codec_figures
from gate.figures.rates import mean_of
from gate.figures.statistics.intervals import Share
from reports.records.codec_rows import CodecArm, CodecSample, HeldOut, KvQuantResult, OracleSample

ORACLE = "oracle"
_RATED = re.compile(r"(?P<before>.*?)-?(?P<bits>\d{1,2})(?P<after>-g\d+)?")


@dataclass(frozen=True)
class CodecSummary:
    """Bits a value, relative errors of energy, nats, shares. `family` is the codec without its bits; none for codecs
    that differ for K and V or do not touch every layer. `attention` is the mean over layers."""

    name: str
    family: str | None
    bits: float | None
    entropy_bits: float | None
    error_k: float | None
    error_k_before_rope: float | None
    error_v: float | None
    attention: float | None
    kl_divergence: float | None
    flips: Share | None
    recalled: Share | None
    second: Share | None
    same_streams: Share | None
    decode_tok_s: float | None

    @property
    def error(self) -> float | None:
        """Of K and V together, as the verdict takes it."""
        both = self.error_k, self.error_v
        return (both[0] + both[1]) / 2 if both[0] is not None and both[1] is not None else None


def summarise_codecs(result: KvQuantResult) -> tuple[CodecSummary, ...]:
    """The verifier itself, where its rows are there, then every arm."""
    oracle = (_oracle(result),) if result.oracle else ()
    return (*oracle, *(_codec(arm) for arm in result.arms))


def _oracle(result: KvQuantResult) -> CodecSummary:
    rows = result.oracle
    return CodecSummary(
        name=ORACLE,
        family=None,
        bits=None,
        entropy_bits=None,
        error_k=None,
        error_k_before_rope=None,
        error_v=None,
        attention=None,
        kl_divergence=None,
        flips=None,
        recalled=_share(row.correct for row in rows),
        second=_share(row.second.correct for row in rows),
        same_streams=None,
        decode_tok_s=_rate(rows),
    )


def _codec(arm: CodecArm) -> CodecSummary:
    rows, figures = arm.samples, codec_figures(arm)
    scored = [row.held_out for row in rows if row.held_out is not None]
    return CodecSummary(
        name=arm.name,
        family=family_of(arm),
        bits=figures.bits,
        entropy_bits=mean_of(row.entropy_bits for row in rows),
        error_k=mean_of(row.relative_error_k for row in rows),
        error_k_before_rope=mean_of(_over_layers(row, lambda layer: layer.k_before_rope) for row in rows),
        error_v=mean_of(row.relative_error_v for row in rows),
        attention=mean_of(_over_layers(row, lambda layer: layer.attention) for row in rows),
        kl_divergence=mean_of(one.kl_divergence for one in scored),
        flips=_flips(scored),
        recalled=_share(row.correct for row in rows),
        second=_share(row.second.correct if row.second is not None else None for row in rows),
        same_streams=_share(row.token_ids_equal_oracle for row in rows),
        decode_tok_s=_rate(rows),
    )


def family_of(arm: CodecArm) -> str | None:
    """The codec without its bits, for arms that differ in nothing else; `mlx-lm` for its own cache."""
    if arm.path == "runtime":
        return "mlx-lm"
    named = _RATED.fullmatch(arm.name)
    if named is None or arm.codec != arm.name:
        return None
    return named["before"] + (named["after"] or "")


def _over_layers(row: CodecSample, figure: Callable[..., float | None]) -> float | None:
    return mean_of(figure(layer) for layer in row.layers)


def _flips(scored: list[HeldOut]) -> Share | None:
    total = sum(one.tokens for one in scored)
    return Share(sum(one.top1_flips for one in scored), total) if total else None


def _share(values: Iterable[bool | None]) -> Share | None:
    found = list(values)
    known = [value for value in found if value is not None]
    return Share(sum(known), len(known)) if known and len(known) == len(found) else None


def _rate(rows: Iterable[CodecSample | OracleSample]) -> float | None:
    """Tokens a second, the median over the rows: a machine that does something else for a while is no codec's fault."""
    rates = [row.decode_tokens / row.decode_s for row in rows if row.decode_tokens and row.decode_s]
    return median(rates) if rates else None
