"""Codes that are gone, and why. They stay reserved: an old report may carry them."""

RETIRED_CODES: dict[str, str] = {}
