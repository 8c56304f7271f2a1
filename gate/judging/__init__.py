"""Applying the rules: from a file to what may be said of it."""
