"""The engines, one a file."""
