"""The budget of what a stranger fetches: the repository, the wheel, and every report of the evidence."""

import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "reports" / "evidence"
REPOSITORY = 50_000_000
WHEEL = 40_000_000
REPORT = 300_000
LARGER = {
    "code-dflash-tiny.json": 320_000,  # 216 rows, of 12 prompts in six arms and three processes
    "code-stdlib-smollm2.json": 360_000,  # 180 rows, of 10 prompts; most blocks hold one token, so there are many
    "kvquant-smollm2.json": 600_000,  # 32,400 errors: 27 codecs, 10 prompts, 30 layers, four each
}
"""Reports that may be larger, and by how much."""


def git(*arguments: str, given: bytes = b"") -> bytes:
    """What git prints; the test is skipped where the files are in no checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not in a git checkout: there is no repository to weigh")
    done = subprocess.run(["git", *arguments], cwd=ROOT, input=given, capture_output=True, check=True)
    return done.stdout


def test_the_repository_packed_is_within_its_budget():
    """What a clone fetches, with its history; loose objects and other branches of a checkout are not part of it."""
    size = len(git("pack-objects", "--revs", "--stdout", "-q", "--threads=1", given=b"HEAD\n"))
    assert size < REPOSITORY, f"{size} bytes: replace a weight only for a measured gain"


def test_the_wheel_is_within_its_budget(tmp_path):
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    listed = git("ls-files", "-z", "--", *target["only-include"], *(f":!{path}" for path in target["exclude"]))
    names = [name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]
    wheel = tmp_path / "k3.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.write(ROOT / name, name)
    assert any(name.endswith(".safetensors") for name in names)
    assert wheel.stat().st_size < WHEEL


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("*.json")), ids=lambda path: path.name)
def test_a_report_is_within_its_budget(path):
    assert path.stat().st_size <= LARGER.get(path.name, REPORT)
