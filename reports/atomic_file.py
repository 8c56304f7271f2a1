"""Files that are replaced whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_atomically(data: bytes, path: Path) -> None:
    """Write beside `path`, flush to disk, then rename over it.

    Raises:
        OSError: nothing was replaced and no temporary file is left.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
