"""Figures in prose, held against the reports they cite."""
