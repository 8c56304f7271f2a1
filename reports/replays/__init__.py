"""What a replay draws from a report, and what it compares."""
