"""A parity report in a table of one row. Counts only: whether it shows parity is a claim."""

from gate.render.tables.parity_counts import ParitySummary
from reports.untrusted.one_line import one_line

COLUMNS = ("candidate", "reference", "samples", "blocks", "tokens", "equal", "differing blocks", "only in a tail")
WORDS = 2


def row(summary: ParitySummary) -> tuple[str, ...]:
    """The cells under `COLUMNS`."""
    counts = (summary.samples, summary.blocks, summary.tokens, summary.equal, summary.differing, summary.consistent)
    return (one_line(summary.candidate), one_line(summary.reference), *(f"{count:,}" for count in counts))
