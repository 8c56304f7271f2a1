"""Whether two speeds may be compared, and whether the run could show the difference."""
