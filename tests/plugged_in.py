"""Plug-ins for a test: packages as pip installs them, in a folder on the path, and everything forgotten afterwards."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.judging import plugin_rules
from reports import drafters, engines
from reports.importers import of_plugins
from reports.plugins import entry_points

VOCABULARIES = ((engines, engines.ENGINES), (drafters, drafters.DRAFTERS))


def write_package(folder: Path, name: str, code: str, points: Mapping[str, Mapping[str, str]]) -> None:
    """The distribution `name`, version 1.2, of a module `code` and entry points by group."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    lines = [
        line
        for group, entries in points.items()
        for line in (f"[k3.{group}]", *(f"{entry} = {module}:{attribute}" for entry, attribute in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@contextmanager
def plugged_in(*folders: Path) -> Iterator[None]:
    """What is installed in these folders is here."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(str(folder))
        for module, vocabulary in VOCABULARIES:
            known, elsewhere = dict(module._known), dict(module._elsewhere)
            for name in ("_known", "_elsewhere"):
                patch.setattr(module, name, known if name == "_known" else elsewhere)
            patch.setattr(vocabulary, "_known", known)
            patch.setattr(vocabulary, "_problems", {})
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    entry_points.plugins.cache_clear()
    of_plugins._importers.cache_clear()
    plugin_rules.plugin_rules.cache_clear()
