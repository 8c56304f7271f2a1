"""The client that docs/sessions.md shows, run as it is written, against a server at a port of its own."""

import re
from pathlib import Path

import pytest

from harness.remote.server import serving
from tests.harness.remote.served import running

PAGE = Path(__file__).resolve().parents[4] / "docs/sessions.md"
SHOWN_ADDRESS = "127.0.0.1:50051"


def test_the_client_of_the_page_runs_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example.count(SHOWN_ADDRESS) == 1
    with running("incremental") as service, serving(service, "127.0.0.1:0") as address:
        exec(compile(example.replace(SHOWN_ADDRESS, address), str(PAGE), "exec"), {})
    *said, length, refused = capsys.readouterr().out.splitlines()
    assert "".join(said).strip()
    assert int(length) > 16
    assert refused.startswith("INVALID_ARGUMENT token_ids: 1000000 is none of the")
