"""Which claims a report can carry, and what their figures are."""
