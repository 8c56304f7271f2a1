"""Stated claims against the rows they rest on."""
