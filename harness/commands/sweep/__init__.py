"""`k3 sweep`."""
