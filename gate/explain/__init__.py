"""The story of every rule, for people."""
