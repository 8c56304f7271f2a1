"""Test runs: whether they are green, and of which code."""
