"""Reports of other tools, one file a format, turned into the same records."""
