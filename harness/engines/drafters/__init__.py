"""Drafters free of tensors, and the protocol that all drafters follow."""
