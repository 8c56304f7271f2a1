"""The session protocol, as a smoke saw a server follow it."""
