"""Estimates, intervals and tests on plain numbers; they know nothing of reports."""
