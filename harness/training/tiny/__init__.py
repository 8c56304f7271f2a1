"""Training k3-tiny, the model that ships."""
