"""TOML that nobody vouches for: UTF-8, and no key of more parts than the parser gets through in time."""

import tomllib
from typing import Any

MOST_DOTS = 100
"""In a line. The parser's time goes with the square of a dotted key's parts: 100,000 of them took it over 40 s."""


class TomlError(ValueError):
    """Text that is no TOML, or none that is read; the message is one line, and says where the parser does."""


def parse_toml(data: bytes) -> dict[str, Any]:
    """The document in `data`.

    Raises:
        TomlError: no UTF-8, no TOML, too deeply nested, an integer of thousands of digits, or a line of too many dots.
    """
    try:
        text = data.decode()
        for number, line in enumerate(text.split("\n"), start=1):
            if line.count(".") > MOST_DOTS:
                raise TomlError(f"over {MOST_DOTS} dots (at line {number}): break the line")
        return tomllib.loads(text)
    except RecursionError as error:
        raise TomlError("too deeply nested") from error
    except TomlError:
        raise
    except ValueError as error:
        raise TomlError(str(error)) from error
