"""What a replay shows of the report that it drew from."""
