"""Whether a port of a drafter proposes what its reference proposes."""
