"""The bridge: git as the bus to a machine one does not sit at. A request is a branch, its answer commits on it."""
