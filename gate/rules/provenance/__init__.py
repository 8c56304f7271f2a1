"""Where a report comes from, and what its parts are called."""
