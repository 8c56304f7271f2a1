"""The token of a server, in a file of its owner's."""

import os
import stat
from pathlib import Path

from harness.base.errors import CannotRunError

LONGEST, SHORTEST = 4096, 16
"""Characters of a token."""


def read_token(path: Path) -> str:
    """The token in a file that only its owner may read.

    Raises:
        CannotRunError: it cannot be read, others may read it, or it holds no token.
    """
    try:
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            raise CannotRunError(f"{path}: others may read this token; run `chmod 600 {path}`")
        with path.open("rb") as file:
            token = file.read(LONGEST + 1).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRunError(f"{path}: no token can be read: {error}") from error
    if not SHORTEST <= len(token) <= LONGEST or not token.isprintable():
        raise CannotRunError(f"{path}: a token is {SHORTEST} to {LONGEST} printable characters in one line")
    return token
