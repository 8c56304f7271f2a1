"""What starts an executor by itself: a launchd agent, a systemd unit, or a GitHub Actions workflow."""

import plistlib
from pathlib import Path

from harness.base.errors import UsageError

LABEL = "k3.bridge"
WORKFLOW = """\
# Answers requests on a Mac of one's own. `k3 bridge setup --print workflow` prints this file; docs/bridge.md says what
# who can push to this repository can do on that Mac.
name: k3-bridge
on:
  push:
    branches: ["k3-bridge/**"]
permissions:
  contents: write
concurrency:
  group: k3-bridge
  cancel-in-progress: false
jobs:
  answer:
    runs-on: [self-hosted, macOS, ARM64]
    timeout-minutes: 1500
    steps:
      # The executor is the default branch's, never the request's.
      - uses: actions/checkout@v5
        with:
          ref: ${{ github.event.repository.default_branch }}
      - name: Install K3
        run: python3 -m venv .venv && .venv/bin/pip install -c constraints.txt '.[run]'
      - name: Answer what waits
        run: .venv/bin/k3 bridge run --once
"""


def launchd_agent(k3: Path, clone: Path, seconds: int) -> str:
    """A property list for ~/Library/LaunchAgents: looks every so many seconds, one at a time."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": [str(k3), "bridge", "run", "--once"],
        "WorkingDirectory": str(clone),
        "StartInterval": seconds,
        "RunAtLoad": True,
        "ProcessType": "Interactive",
        "StandardErrorPath": str(clone / ".git" / "k3-bridge.log"),
    }
    return plistlib.dumps(agent).decode()


def systemd_unit(k3: Path, clone: Path, seconds: int) -> str:
    """A unit for ~/.config/systemd/user.

    Raises:
        UsageError: a path that a unit cannot hold.
    """
    for path in (k3, clone):
        if not str(path).isprintable() or set('"%\\$') & set(str(path)):
            raise UsageError(f"{str(path)!r}: a systemd unit cannot name it: move it to a plainer path")
    return (
        "[Unit]\nDescription=K3 bridge: answers requests for evidence\nAfter=network-online.target\n\n"
        f'[Service]\nWorkingDirectory={clone}\nExecStart="{k3}" bridge run --watch {seconds}\nRestart=on-failure\n'
        "RestartSec=60\nNoNewPrivileges=yes\n\n[Install]\nWantedBy=default.target\n"
    )
