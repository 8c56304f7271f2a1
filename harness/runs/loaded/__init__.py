"""The models of a run, loaded on the backend that it names."""
