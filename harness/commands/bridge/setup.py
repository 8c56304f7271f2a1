"""`k3 bridge setup`: print what starts an executor by itself; nothing is installed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.bridge.services import LABEL, WORKFLOW, launchd_agent, systemd_unit
from harness.commands.bridge.options import clone_here
from harness.commands.run.options import choice
from reports.printing.say import say

KINDS = ("launchd", "systemd", "workflow")
_PLACES = {
    "launchd": f"~/Library/LaunchAgents/{LABEL}.plist; then: launchctl load ~/Library/LaunchAgents/{LABEL}.plist",
    "systemd": "~/.config/systemd/user/k3-bridge.service; then: systemctl --user enable --now k3-bridge",
    "workflow": ".github/workflows/k3-bridge.yml; then register a self-hosted runner with the labels macOS and ARM64",
}


def command(
    kind: Annotated[str | None, choice(KINDS, "Which; default: this system's.", "--print")] = None,
    seconds: Annotated[int, typer.Option("--watch", min=10, help="Seconds between two looks at the remote.")] = 60,
) -> None:
    """Print what starts `k3 bridge run` by itself.

    A launchd agent, a systemd unit or a workflow; nothing is installed.
    """
    kind = kind or ("launchd" if sys.platform == "darwin" else "systemd")
    if kind == "workflow":
        print(WORKFLOW, end="")
    else:
        k3, clone = Path(sys.executable).parent / "k3", clone_here().root
        print((launchd_agent if kind == "launchd" else systemd_unit)(k3, clone, seconds), end="")
    say(f"k3: goes to {_PLACES[kind]}", sys.stderr)
