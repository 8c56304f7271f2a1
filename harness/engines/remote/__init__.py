"""The session protocol: its messages, a client of it, and the engine that measures what speaks it."""
