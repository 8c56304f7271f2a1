"""Commands that run in processes of their own and end with whoever started them."""
