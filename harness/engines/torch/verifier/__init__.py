"""A loaded verifier of transformers: its own forward and caches, and the outputs of its layers."""
