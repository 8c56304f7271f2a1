"""The executing side: what it agrees to, a folder of the commit to run, the run, and the answer."""
