"""`k3 models`."""
