"""`k3 report`."""
