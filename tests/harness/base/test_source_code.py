"""An installed K3 knows the commit it was built from, and whether it is still that."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.provenance import read_source
from harness.base.source_code import BUILT_FROM, FOLDERS, built_from_json, code_digest, read_built_from, read_checkout

ROOT = Path(__file__).resolve().parents[3]
BUILD = (".gitignore", "pyproject.toml", "README.md", "LICENSE", "scripts/wheel_commit.py")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with what the build reads, and a package of each of our names."""
    root = tmp_path / "checkout"
    for name in (*BUILD, "harness/__init__.py", "harness/base/__init__.py", "harness/base/source_code.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "a.py").write_text("x = 1\n")
    (root / "reports" / "evidence").mkdir()
    (root / "reports" / "evidence" / "run.json").write_text("{}")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def build(root: Path, kind: str) -> Path:
    """The one file that hatchling builds."""
    out = root.parent / f"{root.name}-{kind}"
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    subprocess.run(command, cwd=root, capture_output=True, check=True)
    (file,) = out.iterdir()
    return file


def installed(wheel: Path) -> Path:
    """A folder with the wheel's files, as pip lays them."""
    folder = wheel.parent / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def edit(root: Path) -> None:
    (root / "gate" / "a.py").write_text("x = 2\n")


@pytest.mark.parametrize(("change", "dirty"), [(lambda root: None, False), (edit, True)])
def test_a_wheel_carries_the_commit_of_its_checkout(
    checkout: Path, change: Callable[[Path], None], dirty: bool
) -> None:
    change(checkout)
    folder = installed(build(checkout, "wheel"))
    source = read_source(folder)
    assert (source.git_commit, source.dirty) == (git(checkout, "rev-parse", "HEAD"), dirty)
    assert source.files == code_digest(folder) == code_digest(checkout)
    assert not (folder / "reports" / "evidence").exists()


def test_a_wheel_that_was_changed_once_installed_is_dirty(checkout: Path) -> None:
    folder = installed(build(checkout, "wheel"))
    edit(folder)
    assert read_source(folder).dirty is True


def test_a_source_archive_hands_the_commit_on(checkout: Path, tmp_path: Path) -> None:
    archive = build(checkout, "sdist")
    shutil.unpack_archive(archive, tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    source = read_source(installed(build(unpacked, "wheel")))
    assert (source.git_commit, source.dirty) == (git(checkout, "rev-parse", "HEAD"), False)


def test_files_inside_another_repository_have_not_its_commit(checkout: Path) -> None:
    vendored = checkout / "vendored"
    shutil.copytree(checkout / "harness", vendored / "harness")
    assert read_checkout(vendored) is None
    assert built_from_json(vendored) is None
    source = read_source(vendored)
    assert (source.git_commit, source.dirty, source.files) == (None, None, code_digest(vendored))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"git_commit": 1}', '{"git_commit": "a", "dirty": 0, "more": 1}'])
def test_a_note_that_says_nothing_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / BUILT_FROM).write_text(text)
    assert read_built_from(tmp_path) is None


def test_the_digest_moves_with_a_byte_of_code_and_with_nothing_else(checkout: Path) -> None:
    first = code_digest(checkout)
    (checkout / "reports" / "evidence" / "other.json").write_text("[]")
    (checkout / BUILT_FROM).write_text("{}")
    (checkout / "README.md").write_text("other")
    assert code_digest(checkout) == first
    edit(checkout)
    assert code_digest(checkout) != first


def test_two_edits_of_one_commit_are_not_the_same_code(checkout: Path) -> None:
    clean = read_source(checkout)
    assert (clean.dirty, clean.files) == (False, None)
    edit(checkout)
    once = read_source(checkout)
    assert once == read_source(checkout)
    (checkout / "gate" / "a.py").write_text("x = 3\n")
    twice = read_source(checkout)
    assert (once.git_commit, once.dirty) == (twice.git_commit, twice.dirty) == (clean.git_commit, True)
    assert once.files != twice.files
