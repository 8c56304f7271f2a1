"""A verifier over a bounded cache: eviction, restoration, and the layer loop they need."""
