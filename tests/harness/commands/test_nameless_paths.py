"""A path without a name (a root, the current folder, nothing at all) is told in one line by every command."""

import pytest

from harness.cli import run


@pytest.mark.parametrize("path", ["/", ".", ""])
@pytest.mark.parametrize(
    "command",
    [
        ["report", "show"],
        ["replay"],
        ["eval", "--preset", "demo", "--out"],
        ["attest", "keygen", "--out"],
    ],
    ids=" ".join,
)
def test_a_path_without_a_name_ends_in_one_line(
    command: list[str], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, path]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("k3: ")
