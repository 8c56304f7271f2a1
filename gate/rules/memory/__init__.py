"""Bytes of the K/V cache."""
