"""Grids of runs on many machines: what a cell is, how it runs on one, who gets it next, and what comes back."""
