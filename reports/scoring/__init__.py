"""Whether a text holds the answer it was asked for: what the workload scores with and the gate scores again with."""

from reports.scoring.answers import score

__all__ = ["score"]
