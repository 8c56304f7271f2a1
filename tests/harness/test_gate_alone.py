"""K3 as the gate installs it, without the packages of its extras: reports are judged, engines name what they lack."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.remedies import ATTEST_MODULES, RUN_MODULES

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = str(ROOT / "reports" / "evidence" / "demo.json")
WITHOUT = f"""
import sys
sys.modules |= dict.fromkeys({(*RUN_MODULES, *ATTEST_MODULES, "torch")!r})
from harness.cli import run
sys.exit(run(sys.argv[1:]))
"""


def k3(*arguments: str, cache: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process where no package of an extra can be imported."""
    command = [sys.executable, "-c", WITHOUT, *arguments]
    environment = {"PATH": "/usr/bin:/bin", "K3_CACHE": str(cache)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["gate", "check", EVIDENCE],
        ["gate", "rules"],
        ["gate", "ledger", str(ROOT / "README.md")],
        ["report", "show", EVIDENCE],
        ["report", "table", EVIDENCE],
        ["report", "schema"],
        ["presets", "list"],
        ["models", "list"],
        ["doctor"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_reports_are_judged_and_shown(arguments: list[str], tmp_path: Path) -> None:
    done = k3(*arguments, cache=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "--preset", "demo"],
        ["niah"],
        ["code"],
        ["parity", "--model", "k3-tiny", "--drafter", "k3-tiny-dflash"],
        ["kvquant"],
        ["models", "verify", "k3-tiny"],
        ["models", "fetch", "smollm2-135m"],
        ["train", "ftheta", "k3-tiny"],
        ["train", "drafter", "k3-tiny"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_whatever_needs_an_engine_names_the_extra_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    out = [] if arguments[0] == "models" else ["--out", str(tmp_path / "out")]
    done = k3(*arguments, *out, cache=tmp_path / "cache")
    assert done.returncode == 3
    assert done.stderr.startswith("k3: ")
    assert done.stderr.endswith("is not installed: pip install '.[run]' in K3's source folder, on macOS or Linux\n")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
