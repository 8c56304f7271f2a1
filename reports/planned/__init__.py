"""What presets ask, written down for whoever judges a run."""
