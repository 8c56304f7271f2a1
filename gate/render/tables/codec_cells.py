"""A codec run as table cells. Measured figures only: what a codec is worth is a claim."""

from gate.figures.statistics.intervals import Share, wilson
from gate.render.headline import three_digits
from gate.render.tables.codec_table import CodecSummary
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
        three_digits(summary.decode_tok_s) if summary.decode_tok_s is not None else "",
    )


def _fixed(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else ""


def _small(value: float | None) -> str:
    return f"{value:.2g}" if value is not None else ""


def _share(share: Share | None) -> str:
    return f"{share.correct}/{share.total}" if share is not None else ""
