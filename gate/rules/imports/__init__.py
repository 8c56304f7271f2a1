"""Fields that only imported reports have."""
