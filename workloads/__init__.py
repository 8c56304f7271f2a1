"""What is asked, and what a right answer is. No tensors, no engines."""
