"""Text from untrusted files, made fit for one line of a message."""

LIMIT = 240


LONGEST_SHOWN = 100_000
"""Characters of a line that somebody asked to see whole: of a plan, say, with every setting."""


def one_line(text: str, limit: int = LIMIT) -> str:
    """`text` with everything unprintable escaped (line breaks, control codes, lone surrogates), cut to `limit`."""
    kept = text[: limit + 1]
    shown = kept if kept.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in kept)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def every_line(text: str) -> str:
    """`text` with everything unprintable escaped but the ends of its lines and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
