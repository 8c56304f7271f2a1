"""A count with its word, in the singular and in the plural."""


def number_of(count: int | None, what: str) -> str:
    """`1 prompt`, `6 prompts`, `2 processes`."""
    plural = "" if count == 1 else "es" if what.endswith("s") else "s"
    return f"{count} {what}{plural}"
