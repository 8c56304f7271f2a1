"""Fitting an f_theta."""
