"""Signed statements about reports: what was said of a file, by the holder of which key. No network, no service."""
