"""Engines: each prefills a prompt into a session and decodes from it, counting what it really does."""
