"""Clock, errors, progress and the like. Knows nothing of what is above it."""
