"""Training of drafters, f_thetas, and of k3-tiny."""
