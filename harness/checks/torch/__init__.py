"""Checks that compute with PyTorch."""
