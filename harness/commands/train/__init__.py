"""`k3 train`."""
