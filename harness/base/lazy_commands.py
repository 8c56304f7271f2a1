"""Groups of commands that list every command from a table, and import only the one that is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
"""How every parser prints: plain text, and no traceback of its own."""


@dataclass(frozen=True)
class Command:
    """A command: `module` has its function, which is named `command`; `line` is the first sentence of its help."""

    module: str
    line: str


@dataclass(frozen=True)
class Group:
    """Commands under a word of their own, in the order they are listed."""

    line: str
    commands: Mapping[str, Command]


class LightHelp:
    """Gives `--help` a default. The parser converts a flag that has none with pydantic, which takes as long to load as
    all the rest."""

    def get_help_option(self, ctx: Any) -> Any:
        """As the parser makes it, and then its default."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.default = False
        return option


class LightCommand(LightHelp, TyperCommand):
    """A command of Typer."""


class LazyGroup(LightHelp, TyperGroup):
    """A group whose commands are known by name and line until one is called."""

    entries: Mapping[str, Command | Group]

    def fill(self, entries: Mapping[str, Command | Group]) -> None:
        """List these."""
        self.entries = entries
        self.commands = {
            name: TyperCommand(name=name, help=entry.line, rich_markup_mode=None) for name, entry in entries.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """As the parser resolves a name, and then the command itself in the place of its line."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else load(name, self.entries[name]), rest


def load(name: str, entry: Command | Group) -> Any:
    """The parser's command for an entry. A command is imported, a group imports nothing."""
    if isinstance(entry, Group):
        group = LazyGroup(name=name, help=entry.line, rich_markup_mode=None)
        group.fill(entry.commands)
        return group
    app = typer.Typer(**PLAIN)
    app.command(name, cls=LightCommand)(import_module(entry.module).command)
    return typer.main.get_command(app)
