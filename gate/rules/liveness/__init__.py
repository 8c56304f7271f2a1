"""Whether what an arm names did really run."""
