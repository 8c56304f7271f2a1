"""What lies beside a judged file and counts for it."""
