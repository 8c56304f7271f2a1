"""A commit whose `k3 eval` is short: it counts its starts, sleeps, and writes a sound report of that commit.

The bridge is what these tests are of. The end-to-end test runs K3 itself.
"""

import os
import subprocess
import sys
from pathlib import Path

from harness.bridge.git import Repository
from harness.plans.preset_file import read_preset
from reports.report import load_report, report_bytes
from tests.harness.bridge.repositories import Remote, new_remote

ROOT = Path(__file__).resolve().parents[3]
PRESET = "parity-tiny-recorded"
NONCE = "0123456789abcdef"
PLACE = "c0ffee" * 6 + "abcd"
CLI = f"""
import json, os, shutil, subprocess, sys, time
from pathlib import Path

out = Path(sys.argv[sys.argv.index("--out") + 1])
commit = json.loads(Path("harness/built_from.json").read_text())["git_commit"]
with open(os.environ["K3_STARTS"], "a") as file:
    file.write(str(out.parent) + " " + " ".join(sys.argv[1:]) + "\\n")
print("measuring in", Path.home(), flush=True)
time.sleep(float(os.environ.get("K3_SLEEP", "0")))
if "K3_HIDE" in os.environ:
    os.rename(os.environ["K3_HIDE"], os.environ["K3_HIDE"] + ".gone")
if "K3_WITHDRAW" in os.environ:
    subprocess.run(["git", "-C", os.environ["K3_WITHDRAW"], "update-ref", "-d", os.environ["K3_BRANCH"]], check=True)
if "K3_FAIL" in os.environ:
    sys.exit("no model here")
part = out.with_suffix(".part")
part.write_text(Path("template.json").read_text().replace("{PLACE}", commit))
os.replace(part, out)
"""


def stand_in_remote(folder: Path) -> Remote:
    """A bare remote whose main has the short `k3 eval`, and hooks and attributes that must not run."""
    report = load_report(ROOT / "reports" / "evidence" / f"demo-{PRESET}.json")
    assert report.provenance is not None
    assert report.provenance.source is not None
    assert report.preset is not None
    source = report.provenance.source.replace(git_commit=PLACE)
    argv = ("k3", "eval", "--preset", PRESET)
    made = report.replace(
        preset=report.preset.replace(part_of=None), provenance=report.provenance.replace(source=source, argv=argv)
    )
    return new_remote(
        folder,
        {
            f"presets/{PRESET}.toml": read_preset(PRESET).decode(),
            "harness/__init__.py": "",
            "harness/cli.py": CLI,
            "template.json": report_bytes(made).decode(),
            ".gitattributes": "* filter=evil\n",
            ".githooks/post-checkout": f"#!/bin/sh\ntouch {folder}/pwned\n",
        },
    )


def executor(clone: Repository, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """`k3 bridge run` in a process of its own."""
    return bridge(clone, "run", "--environment", "running", *arguments, **variables)


def bridge(clone: Repository, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """`k3 bridge` in a process of its own, of this K3 and not of the clone's."""
    program = "from harness.cli import main; main()"
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"} | variables
    return subprocess.Popen(
        [sys.executable, "-c", program, "bridge", *arguments],
        cwd=clone.root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
