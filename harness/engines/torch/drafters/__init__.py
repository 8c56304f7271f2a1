"""Drafters that compute with PyTorch."""
