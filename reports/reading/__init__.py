"""From a path to evidence: what was found in a file, and the reader that finds it."""
