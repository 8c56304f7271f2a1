"""The form that a report has in a file: the same records, written so that they are small and a person can read them."""
