"""`k3 review`: a whole validation, its plan, and what may be said after it."""
