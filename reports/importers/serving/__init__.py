"""Benchmarks of servers: many requests at once, so a request's time is not the engine's."""
