"""`k3 eval` and its siblings: commands that measure."""
