"""The example package, installed as a user installs it: its plug-ins are shown, measured, compared and judged, and what
they made is judged on a machine without them."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.harness.remote.server_process import line_of, server_process

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tests" / "example_package"
TIMINGS = "# example timings\nfast\t32\t0.5\nslow\t32\t1.5\n"
POINTS = {
    ("engines", "greedy"),
    ("drafters", "bigram"),
    ("drafters", "bigram-numpy"),
    ("workloads", "tables"),
    ("importers", "timings"),
    ("rules", "short-streams"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is installed: from a copy, without a network, by the build backend that is here."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder / "site"), str(folder / "source")]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def k3(*arguments: str | Path, site: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, with the package or without it."""
    command = [sys.executable, "-m", "harness.cli", *map(str, arguments)]
    return subprocess.run(command, env=environment(site), capture_output=True, text=True, check=False)


def environment(site: Path | None) -> dict[str, str]:
    """Of a process that has the package, or has it not."""
    paths = [str(ROOT), *([str(site)] if site is not None else [])]
    weights = {"BIGRAM_WEIGHTS": str(site / "k3_example" / "weights")} if site is not None else {}
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(paths)} | weights


def judged(path: Path, site: Path | None = None) -> dict[str, dict[str, Any]]:
    """What the gate says of a file, or of all in a folder, by name."""
    files = json.loads(k3("gate", "check", path, "--format", "json", site=site).stdout)
    return {Path(file["path"]).name: file for file in files}


def codes(file: dict[str, Any]) -> set[str]:
    return {violation["code"] for violation in file["violations"]}


def withheld(file: dict[str, Any], name: str) -> set[str]:
    (claim,) = (claim for claim in file["claims"] if claim["name"] == name)
    return set(claim["withheld_by"])


@pytest.fixture(scope="module")
def reports(site: Path) -> Path:
    """The folder of a run with its engine, drafter and prompts, and of the comparison of the drafter's two runtimes."""
    folder = site.parent / "reports"
    folder.mkdir()
    for preset in ("parity", "preset"):
        done = k3("eval", "--preset", PACKAGE / f"{preset}.toml", "--out", folder / f"{preset}.json", site=site)
        assert done.returncode in (0, 2), done.stderr
    return folder


@pytest.fixture(scope="module")
def here(reports: Path, site: Path) -> dict[str, dict[str, Any]]:
    """Both reports as they are judged with the package."""
    return judged(reports, site)


def test_doctor_shows_each_with_version_and_code(site: Path) -> None:
    plugins = json.loads(k3("doctor", "--json", site=site).stdout)["plugins"]
    assert {(plugin["group"], plugin["name"]) for plugin in plugins} == POINTS
    assert {(plugin["distribution"], plugin["version"], plugin["problem"]) for plugin in plugins} == {
        ("k3-example", "0.1.0", "")
    }
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", plugin["code"]) for plugin in plugins)


def test_a_plan_names_those_it_uses_and_is_refused_without_them(site: Path) -> None:
    preset = PACKAGE / "preset.toml"
    plugins = json.loads(k3("eval", "--preset", preset, "--plan", "--json", site=site).stdout)["plugins"]
    assert [plugin["name"] for plugin in plugins] == ["greedy", "bigram", "tables"]
    done = k3("eval", "--preset", preset, "--plan")
    assert (done.returncode, done.stderr.count("\n")) == (64, 1)
    assert "tables" in done.stderr or "greedy" in done.stderr


def test_the_report_names_the_code_that_ran(reports: Path) -> None:
    provenance = json.loads((reports / "preset.json").read_bytes())["provenance"]
    assert [plugin["name"] for plugin in provenance["plugins"]] == ["greedy", "bigram", "tables"]
    assert {"name": "k3-example", "version": "0.1.0"} in provenance["packages"]
    (drafter,) = (model for model in provenance["models"] if model["role"] == "drafter")
    assert drafter["weights"].startswith("sha256:")


def test_the_drafter_proposes_what_its_reference_does(here: dict[str, dict[str, Any]]) -> None:
    file = here["parity.json"]
    assert codes(file) <= {"DIRTY_TREE"}
    (claim,) = file["claims"]
    assert (claim["name"], claim["value"]) == ("drafter_parity/mlx", 1.0)


def test_rows_are_judged_like_those_of_any_engine(here: dict[str, dict[str, Any]]) -> None:
    file = here["preset.json"]
    assert codes(file) <= {"DIRTY_TREE"}
    values = {claim["name"]: claim["value"] for claim in file["claims"]}
    assert values["token_identity/greedy"] == values["token_identity/bigram"] == 1.0
    assert values["acceptance/bigram"] > 0.1
    assert withheld(file, "token_identity/greedy") <= {"DIRTY_TREE"}
    unshown = {"PARITY_REQUIRED"} if codes(here["parity.json"]) else set()  # in a dirty checkout nothing is shown
    assert withheld(file, "acceptance/bigram") <= {"DIRTY_TREE"} | unshown


def test_its_rule_withholds_what_it_is_about_and_nothing_else(here: dict[str, dict[str, Any]], site: Path) -> None:
    file = here["preset.json"]
    named = {claim["name"] for claim in file["claims"] if "k3-example:short-streams" in claim["withheld_by"]}
    about = ("decode_speedup", "e2e_speedup", "arm_ratio")
    assert named == {claim["name"] for claim in file["claims"] if claim["name"].startswith(about)}
    assert "our streams are long" in k3("gate", "explain", "k3-example:short-streams", site=site).stdout.lower()


def test_without_the_package_the_report_is_read_and_withheld(reports: Path) -> None:
    found = judged(reports)
    file = found["preset.json"]
    assert file["verdict"] == "withheld"
    assert codes(file) - {"DIRTY_TREE"} == {"PLUGIN_ABSENT"}
    assert "PLUGIN_ABSENT" in withheld(file, "token_identity/greedy") & withheld(file, "acceptance/bigram")
    assert found["parity.json"]["claims"][0]["value"] == 1.0


def test_a_file_of_its_format_is_imported_and_never_cited(site: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TIMINGS)
    file = judged(tmp_path / "t.txt", site)["t.txt"]
    assert (file["source"], file["verdict"]) == ("k3-example:timings", "withheld")
    assert k3("report", "import", tmp_path / "t.txt", "--out", tmp_path / "t.json", site=site).returncode == 0
    without = judged(tmp_path / "t.json")["t.json"]
    assert (without["source"], without["verdict"]) == ("k3-example:timings", "withheld")
    assert "PLUGIN_ABSENT" in codes(without)
    (tmp_path / "t.txt").write_text(TIMINGS.replace("0.5", "soon"))
    (violation,) = judged(tmp_path / "t.txt", site)["t.txt"]["violations"]
    assert "line 2: no arm, tokens and seconds between tabs" in violation["message"]


SERVED = {
    "greedy": ("--engine", "greedy"),
    "bigram": (
        "--engine",
        "fused",
        "--block-size",
        "4",
        "--drafter",
        "bigram",
        "--drafter-model",
        "${ENV:BIGRAM_WEIGHTS}",
    ),
}
REMOTE = """
name = "served"
title = "An engine and a drafter of another package, each behind a server"
kind = "code"
model = "k3-tiny"
samples = 1
processes = 1
max_new_tokens = 8
ignore_turn_stop = true
"""
ARM = """
[[arms]]
name = "{name}"
role = "{role}"
label = "k3-example over the wire"
engine = "remote"
remote = {{ address = "{address}" }}
"""


@pytest.fixture(scope="module")
def over_the_wire(site: Path) -> dict[str, Any]:
    """A report of both, each served in a process that has the package and measured in one that has not."""
    folder = site.parent / "wire"
    folder.mkdir()
    with ExitStack() as stack:
        text = REMOTE
        servers = {
            name: stack.enter_context(
                server_process("serve", *asked, "--json", "--address", "127.0.0.1:0", env=environment(site))
            )
            for name, asked in SERVED.items()
        }
        for name, server in servers.items():
            address = json.loads(line_of(server))["address"]
            text += ARM.format(name=name, role="peer" if name == "greedy" else "sut", address=address)
        (folder / "served.toml").write_text(text)
        done = k3("eval", "--preset", folder / "served.toml", "--out", folder / "served.json")
    assert done.returncode in (0, 2), done.stderr
    document: dict[str, Any] = json.loads((folder / "served.json").read_bytes())
    return document


def test_a_server_names_its_plugins_and_they_are_judged_as_in_process(
    over_the_wire: dict[str, Any], site: Path, tmp_path: Path
) -> None:
    brought = {arm["name"]: arm["served_by"].get("plugins") for arm in over_the_wire["arms"] if arm.get("served_by")}
    assert {
        name: [(one["group"], one["name"], one["distribution"]) for one in found] for name, found in brought.items()
    } == {
        "greedy": [("engines", "greedy", "k3-example")],
        "bigram": [("drafters", "bigram", "k3-example")],
    }
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", one["code"]) for found in brought.values() for one in found)
    assert over_the_wire["provenance"].get("plugins") is None
    (tmp_path / "served.json").write_text(json.dumps(over_the_wire))
    here, without = judged(tmp_path, site)["served.json"], judged(tmp_path)["served.json"]
    assert codes(here) <= {"DIRTY_TREE"}
    assert codes(without) - {"DIRTY_TREE"} == {"PLUGIN_ABSENT"}


def test_a_server_that_does_not_name_its_plugins_shows_nothing(
    over_the_wire: dict[str, Any], site: Path, tmp_path: Path
) -> None:
    arms = [
        arm | ({"served_by": arm["served_by"] | {"plugins": None}} if arm.get("served_by") else {})
        for arm in over_the_wire["arms"]
    ]
    named = [one for arm in over_the_wire["arms"] if arm.get("served_by") for one in arm["served_by"]["plugins"]]
    of_the_client = over_the_wire["provenance"] | {"plugins": named}
    for name, document in (("silent", over_the_wire), ("foreign", over_the_wire | {"provenance": of_the_client})):
        (tmp_path / f"{name}.json").write_text(json.dumps(document | {"arms": arms}))
    here, without = judged(tmp_path, site), judged(tmp_path)
    for name in ("silent.json", "foreign.json"):
        (said,) = (one["message"] for one in here[name]["violations"] if one["code"] == "PLUGIN_UNIDENTIFIED")
        assert "greedy: engine greedy is none that ships" in said
        assert "bigram: drafter.name bigram is none that ships" in said
        assert {"KIND_MISMATCH", "PLUGIN_ABSENT"} <= codes(without[name])
