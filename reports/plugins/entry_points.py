"""Plug-ins: what other installed packages add by entry points. Found by name, imported once that name is asked for.

    [project.entry-points."k3.engines"]
    lookahead = "their_package.entries:ENGINE"

Standard library only: the vocabularies of engines and drafters ask here for names that they do not know.
"""

import importlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

Group = Literal["engines", "drafters", "workloads", "importers", "rules"]
GROUPS: tuple[Group, ...] = get_args(Group)
PREFIX = "k3."
LONGEST_MESSAGE = 300
SLOW_S = 2.0
"""Seconds of an import after which it is said what is imported."""

_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"

T = TypeVar("T")


class PluginError(Exception):
    """A plug-in that cannot be used; the message is one line that names it, its package and what is wrong."""


@dataclass(frozen=True)
class Plugin:
    """An entry point of another distribution; `value` is the `module:attribute` that it names."""

    group: Group
    name: str
    value: str
    distribution: str
    version: str

    @property
    def id(self) -> str:
        """`distribution:name`, which is the code of a rule and the name of an importer. None that ships has a colon."""
        return f"{self.distribution}:{self.name}"

    @property
    def module(self) -> str:
        """The top-level package or module that holds its code."""
        return self.value.partition(":")[0].partition(".")[0]

    def code(self) -> str | None:
        """sha256 over path and content of every file of the package, compiled ones left out; none if there is none.

        Nothing is imported. Weights that lie in the package are part of it.
        """
        import hashlib

        found = find_spec(self.module)
        if found is None:
            return None
        roots = [Path(place) for place in found.submodule_search_locations or ()]
        files = [(file.relative_to(root).as_posix(), file) for root in roots for file in _files(root)]
        if not roots and found.origin is not None:
            files = [(Path(found.origin).name, Path(found.origin))]
        total = hashlib.sha256()
        for path, file in sorted(files):
            with file.open("rb") as content:
                total.update(f"{path}\0".encode() + hashlib.file_digest(content, "sha256").digest())
        return f"sha256:{total.hexdigest()}"

    def load(self, wanted: type[T]) -> T:
        """What the entry point names, imported.

        Raises:
            PluginError: it cannot be imported, or is no `wanted`.
        """
        try:
            found = attribute_at(self.value, str(self))
        except PluginError as error:
            raise self.error(str(error)) from error
        if not isinstance(found, wanted):
            raise self.error(f"{self.value} is of type {type(found).__name__}, not {wanted.__name__}")
        return found

    def error(self, problem: str) -> PluginError:
        """`problem` with the plug-in before it, in one line."""
        return PluginError(_one_line(f"{self}: {problem}"))

    def __str__(self) -> str:
        return f"plug-in {PREFIX}{self.group} {self.id} {self.version}"


def attribute_at(path: str, whose: str = "code of a plug-in") -> Any:
    """What `package.module:attribute` of another package names; `whose` it is, is told where its import takes long.

    Raises:
        PluginError: it cannot be imported, or is not there. Code of others may raise anything.
    """
    module, _, attribute = path.partition(":")
    try:
        # A command's own output is not a plug-in's to write into.
        with _told_if_slow(f"importing {path}, {whose}"), redirect_stdout(sys.stderr):
            return getattr(importlib.import_module(module), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(_one_line(f"{path} cannot be loaded: {type(error).__name__}: {_text(error)}")) from error


@contextmanager
def _told_if_slow(doing: str) -> Iterator[None]:
    """Say on stderr what the body is doing once it takes `SLOW_S`: whoever waits for a hang sees whose it is."""
    stderr = sys.stderr
    timer = threading.Timer(SLOW_S, lambda: print(f"k3: {_one_line(doing)}", file=stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "its message cannot be shown"


def _one_line(message: str) -> str:
    kept = " ".join(message.split())[:LONGEST_MESSAGE]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in kept)


def _files(root: Path) -> Iterator[Path]:
    return (file for file in root.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


@cache
def plugins() -> tuple[Plugin, ...]:
    """Every plug-in that is installed, by group and name; none of them is imported."""
    return tuple(sorted(_found(), key=lambda plugin: (plugin.group, plugin.name, plugin.distribution)))


def _found() -> Iterator[Plugin]:
    """Entry points are read only of distributions whose file names one of ours: most have none, and reading costs."""
    places = [place for place in sys.path if any(map(_names_ours, _entry_files(place)))]
    if not places:
        return
    from importlib import metadata

    seen: set[str] = set()
    for distribution in metadata.distributions(path=places):
        if f"[{PREFIX}" not in (distribution.read_text("entry_points.txt") or ""):
            continue
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "unnamed").lower()
        if name in seen:  # the first on the path is the one that is imported
            continue
        seen.add(name)
        for point in distribution.entry_points:
            for group in GROUPS:
                if point.group == PREFIX + group:
                    yield Plugin(group, point.name, point.value, name, distribution.version)


def _entry_files(place: str) -> Iterator[str]:
    """Where the entry points of what is installed in a folder of the path would stand."""
    try:
        names = os.listdir(place or ".")
    except OSError:  # an archive, or a folder that is not there
        return
    for name in names:
        if name.endswith("-info"):
            yield os.path.join(place, name, "entry_points.txt")


def _names_ours(file: str) -> bool:
    try:
        with open(file, "rb") as points:
            return f"[{PREFIX}".encode() in points.read()
    except OSError:
        return False


def of_group(group: Group) -> tuple[Plugin, ...]:
    """The plug-ins of a group."""
    return tuple(plugin for plugin in plugins() if plugin.group == group)


def find(group: Group, name: str) -> Plugin | None:
    """The plug-in of this name.

    Raises:
        PluginError: two packages bring one.
    """
    found = [plugin for plugin in of_group(group) if plugin.name == name]
    if len(found) > 1:
        raise found[0].error(f"{found[1].distribution} brings one of that name, too; uninstall one of the two")
    return found[0] if found else None


def is_plugin_id(name: str) -> bool:
    """The name of an importer or a rule is a plug-in's id. None that ships has a colon."""
    return ":" in name


def installed(group: Group, plugin_id: str) -> bool:
    """A plug-in of this id is here."""
    return any(plugin.id == plugin_id for plugin in of_group(group))


def name_fault(plugin: Plugin) -> str | None:
    """Why the plug-in's name can be none; none if it can."""
    if re.fullmatch(_NAME, plugin.name):
        return None
    return "a name is of lower-case letters, digits, - and _, 40 at most"
