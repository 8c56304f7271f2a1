"""The engines on PyTorch, one a file."""
