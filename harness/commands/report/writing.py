"""Files that are made from reports: written whole or not at all, and never over their source."""

from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import OutputError
from reports.untrusted.one_line import one_line


def write_made_from(source: Path, data: bytes, out: Path, others: Sequence[Path] = ()) -> None:
    """Write `data`, which was made from the file `source` (and `others`), to `out`.

    Raises:
        OutputError: the folder is not writable, the disk is full, or `out` is a folder or the source itself.
    """
    from reports.atomic_file import write_atomically

    try:
        if out.is_dir():
            raise IsADirectoryError(0, "is a folder")
        if out.exists() and any(out.samefile(one) for one in (source, *others)):
            raise FileExistsError(0, "is the file it would be made from")
        write_atomically(data, out)
    except OSError as error:
        shown = one_line(str(out), 1000)
        raise OutputError(f"{shown}: cannot be written ({error.strerror}); choose another --out") from error
