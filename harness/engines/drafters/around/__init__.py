"""Drafters around another one: the negative control, and the one that proposes only what it is sure of."""
