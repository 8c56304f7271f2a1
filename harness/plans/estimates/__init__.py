"""What a plan comes to before it is run: its time, and the size of its report."""
