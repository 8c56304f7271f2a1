"""Getting models that come as packages onto this machine."""
