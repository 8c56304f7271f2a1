"""Which retractions are in force where a file lies."""

import os
from collections.abc import Sequence
from pathlib import Path

from reports.retractions import FILE_NAME, Retraction, load_retractions


class RetractionFinder:
    """Finds the retractions in force where a file lies; every folder is looked at once.

    In force are those of the files given by name, and of every RETRACTIONS.toml beside the judged file and in the
    folders above it: up to the highest of `tops`, or the working directory, that it lies in.
    """

    def __init__(self, tops: Sequence[Path] = (), named: Sequence[Path] = ()) -> None:
        """`named` are retractions files to obey everywhere.

        Raises:
            reports.retractions.RetractionsError: one of them cannot be read.
        """
        self._tops = [_absolute(top) for top in (*tops, Path.cwd())]
        self._named = tuple(entry for path in named for entry in load_retractions(path).entries)
        self._folders: dict[str, tuple[Retraction, ...]] = {}
        self._in_force: dict[str, tuple[Retraction, ...]] = {}

    def in_force(self, path: Path) -> tuple[Retraction, ...]:
        """Every entry that may be about the file at `path`.

        Raises:
            reports.retractions.RetractionsError: a retractions file is there and cannot be read.
        """
        folder = os.path.dirname(_absolute(path))
        if folder not in self._in_force:
            self._in_force[folder] = self._above(folder)
        return self._in_force[folder]

    def _above(self, folder: str) -> tuple[Retraction, ...]:
        tops = [top for top in self._tops if _below(folder, top)]
        highest = min(tops, key=len, default=folder)
        entries = list(self._named)
        while True:
            entries += self._of_folder(folder)
            if folder == highest:
                return tuple(entries)
            folder = os.path.dirname(folder)

    def _of_folder(self, folder: str) -> tuple[Retraction, ...]:
        if folder not in self._folders:
            path = Path(folder, FILE_NAME)
            self._folders[folder] = load_retractions(path).entries if os.path.lexists(path) else ()
        return self._folders[folder]


def _absolute(path: Path) -> str:
    """With one slash in front: POSIX keeps two apart, and the folders above such a path never reach the root."""
    return os.sep + os.path.abspath(path).lstrip(os.sep)


def _below(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(top.rstrip(os.sep) + os.sep)
