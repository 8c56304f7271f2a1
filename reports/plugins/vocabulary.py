"""A vocabulary that plug-ins add to: what ships is known, the rest is looked for once it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from reports.plugins.entry_points import Group, Plugin, PluginError, find

T = TypeVar("T")


class Vocabulary(Mapping[str, T]):
    """The names that this process knows, and what each is; one that it does not know is looked for among plug-ins.

    Those that ship, or were registered, come first: no plug-in takes their place. Only known ones are listed.
    """

    def __init__(self, known: dict[str, T], group: Group, add: Callable[[Plugin], None]) -> None:
        """`add` puts what a plug-in brings into `known`; it raises PluginError or ValueError where that is refused."""
        self._known, self._group, self._add = known, group, add
        self._problems: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._known and name not in self._problems:
            self._problems[name] = self._ask(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def problem(self, name: str) -> str | None:
        """Why the plug-in of this name, which was asked for, cannot be used."""
        return self._problems.get(name)

    def _ask(self, name: str) -> str | None:
        try:
            plugin = find(self._group, name)
            if plugin is not None:
                self._add(plugin)
        except PluginError as error:
            return str(error)
        return None
