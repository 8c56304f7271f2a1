"""A report and its replays, found near each other and judged together."""
