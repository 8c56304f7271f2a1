"""Text from untrusted files, made fit for one line of a message."""

LIMIT = 240


def one_line(text: str, limit: int = LIMIT) -> str:
    """`text` with everything unprintable escaped (line breaks, control codes, lone surrogates), cut to `limit`."""
    kept = text[: limit + 1]
    shown = kept if kept.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in kept)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
