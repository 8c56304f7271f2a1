"""Whether a replay is of the rows that chance drew, and what it says of the report."""
