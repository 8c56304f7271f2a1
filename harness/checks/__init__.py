"""What compares two computations, to know whether they are the same."""
