"""One ratio from several reports: over the runs of a machine, and over machines."""
