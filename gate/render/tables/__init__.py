"""Reports as tables in a terminal."""
