"""A loaded verifier: its architecture, its own forward and caches, its hidden states."""
