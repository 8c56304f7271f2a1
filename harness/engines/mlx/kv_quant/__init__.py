"""Codecs of K/V, and what measures them."""
