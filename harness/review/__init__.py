"""A whole validation of a machine: a suite of steps, each a command in a process of its own, resumable."""
