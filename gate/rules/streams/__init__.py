"""The tokens that came out."""
