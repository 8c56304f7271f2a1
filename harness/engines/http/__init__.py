"""Engines behind an OpenAI-compatible endpoint of another project's server: greedy, streamed, timed by the client."""
