"""What smokes and test runs come to."""
