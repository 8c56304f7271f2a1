"""A codec run as table cells and as pictures. Measured figures only: what a codec is worth is a claim."""

from collections.abc import Callable, Iterator, Sequence

from gate.figures.intervals import Share, wilson
from gate.judging.judged_file import JudgedFile
from gate.render.headline import figure
from gate.render.page.chart import Chart, Point, Series
from gate.render.tables.codec_table import CodecSummary
from reports.records.claims import KvQuantClaim
from reports.untrusted.one_line import one_line

COLUMNS = (
    "codec",
    "bits",
    "entropy",
    "K error",
    "before RoPE",
    "V error",
    "attention",
    "KL, nats",
    "flips",
    "recall",
    "95 % interval",
    "second",
    "as oracle",
    "tok/s",
)
WORDS = 1


def row(summary: CodecSummary) -> tuple[str, ...]:
    """The cells under `COLUMNS`."""
    interval = wilson(summary.recalled) if summary.recalled is not None else None
    return (
        one_line(summary.name),
        _fixed(summary.bits),
        _fixed(summary.entropy_bits),
        _small(summary.error_k),
        _small(summary.error_k_before_rope),
        _small(summary.error_v),
        _small(summary.attention),
        _small(summary.kl_divergence),
        _share(summary.flips),
        _share(summary.recalled),
        f"{interval.low:.2f} to {interval.high:.2f}" if interval is not None else "",
        _share(summary.second),
        _share(summary.same_streams),
        figure(summary.decode_tok_s) if summary.decode_tok_s is not None else "",
    )


def verdict(judged: JudgedFile) -> str:
    """What the admitted claims come to, in one line."""
    claims = [admitted.claim for admitted in judged.headlines if isinstance(admitted.claim, KvQuantClaim)]
    if not claims:
        return "no verdict on a codec is admitted"
    worth = [one_line(claim.arm) for claim in claims if claim.value]
    return f"{len(claims)} codecs judged beside affine 4; worth a native kernel: {', '.join(worth) or 'none'}"


def charts(summaries: Sequence[CodecSummary]) -> Iterator[Chart]:
    """Error, divergence of logits and recall over bits a value; a line a family.

    Arms that keep many layers exact, at more bits than any codec has, would stretch the axis and are left to the table.
    """
    most = max((one.bits for one in summaries if one.family is not None and one.bits is not None), default=0.0)
    rated = [one for one in summaries if one.bits is not None and one.error and one.bits <= most]
    if not rated:
        return
    yield Chart("Relative error of K and V", "bits a value", _series(rated, _error), True)
    yield Chart("KL divergence of held-out logits, nats", "bits a value", _series(rated, _divergence), True)
    yield Chart("Recall, with 95 % intervals", "bits a value", _series(rated, _recall), False)


def _series(summaries: Sequence[CodecSummary], point: Callable[[CodecSummary], Point | None]) -> tuple[Series, ...]:
    """Families in the order of the report; whatever has none shares a series of single points."""
    points: dict[str, list[Point]] = {}
    for summary in summaries:
        made = point(summary)
        if made is not None:
            points.setdefault(summary.family or "other", []).append(made)
    return tuple(
        Series(name, tuple(sorted(found, key=lambda one: one.x)), name != "other") for name, found in points.items()
    )


def _error(summary: CodecSummary) -> Point | None:
    return _point(summary, summary.error)


def _divergence(summary: CodecSummary) -> Point | None:
    return _point(summary, summary.kl_divergence)


def _point(summary: CodecSummary, y: float | None) -> Point | None:
    if summary.bits is None or y is None or y <= 0:
        return None
    return Point(summary.bits, y, summary.name)


def _recall(summary: CodecSummary) -> Point | None:
    if summary.bits is None or summary.recalled is None:
        return None
    interval = wilson(summary.recalled)
    return Point(summary.bits, interval.value, summary.name, (interval.low, interval.high))


def _fixed(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else ""


def _small(value: float | None) -> str:
    return f"{value:.2g}" if value is not None else ""


def _share(share: Share | None) -> str:
    return f"{share.correct}/{share.total}" if share is not None else ""
