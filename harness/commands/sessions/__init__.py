"""Sessions over the wire: serve an engine, and what is evidence of a server and of a test run."""
