"""`k3 presets`."""
