"""Decoding in blocks, whatever the backend: draft, verify, keep what matched."""
