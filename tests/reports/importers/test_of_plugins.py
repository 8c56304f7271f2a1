"""Importers of another package that call `exit`: the file is told as what it is, and the command goes on."""

from pathlib import Path

import pytest

from harness.cli import run
from tests.plugged_in import plugged_in, write_package

CODE = """
import sys
from reports.importers.base import Importer

def leave(source):
    sys.exit(0)

early = Importer(name="leaving:early", recognises=leave, load=leave, versioned=False)
late = Importer(name="leaving:late", recognises=lambda source: True, load=leave, versioned=False)
"""


@pytest.mark.parametrize(("which", "said"), [("early", "no importer knows it"), ("late", "failed: SystemExit: 0")])
def test_an_importer_that_calls_exit_acquits_nobody(
    which: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_package(tmp_path, "leaving", CODE, {"importers": {which: which}})
    file = tmp_path / "foreign.json"
    file.write_text('{"some": "numbers"}')
    with plugged_in(tmp_path):
        code = run(["gate", "check", str(file)])
    told = capsys.readouterr()
    assert said in told.out + told.err
    assert code == (3 if which == "early" else 2)
