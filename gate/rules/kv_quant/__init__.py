"""Codecs of the K/V cache."""
