"""`k3 gate`."""
