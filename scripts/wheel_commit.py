"""A hook of the build: the wheel, or the source archive that one is built from, carries the commit of its checkout."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Puts what `harness.base.source_code` says of the checkout into what is built; a source archive has it already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file; an editable install reads its checkout instead."""
        root = Path(self.root)
        sys.path.insert(0, self.root)
        from harness.base.source_code import BUILT_FROM, built_from_json

        text = built_from_json(root)
        if version != "editable" and text is not None:
            self._folder = tempfile.TemporaryDirectory()
            file = Path(self._folder.name, "built_from.json")
            file.write_text(text, encoding="utf-8")
            build_data["force_include"][str(file)] = BUILT_FROM
