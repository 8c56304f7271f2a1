"""Files and text that nobody vouches for, opened and read within bounds."""
