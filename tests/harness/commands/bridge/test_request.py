"""`k3 bridge request` and `status` against a bare remote, with real git."""

import json
from pathlib import Path

import pytest

from harness.bridge.asking import asked_commit
from harness.bridge.git import Repository
from harness.bridge.manifest import MANIFEST, Request, parse_request
from harness.bridge.names import RequestName
from harness.bridge.trees import entry_at, read_blob
from harness.cli import run
from harness.plans.preset_file import read_preset
from tests.harness.bridge.repositories import Remote, git, new_remote
from tests.harness.bridge.stand_in import bridge

PRESET = "parity-tiny-recorded"
NONCE = "0123456789abcdef"


@pytest.fixture(name="remote")
def bare_remote(tmp_path: Path) -> Remote:
    files = {f"presets/{PRESET}.toml": read_preset(PRESET).decode(), "harness/a.py": "a = 1\n", "notes.md": "x\n"}
    return new_remote(tmp_path, files)


@pytest.fixture(name="clone")
def asking_clone(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> Repository:
    clone = remote.clone("asker")
    monkeypatch.chdir(clone.root)
    return clone


def manifest_of(clone: Repository, commit: str) -> Request:
    entry = entry_at(clone, commit, MANIFEST)
    assert entry is not None
    return parse_request(read_blob(clone, entry.blob))


def test_a_request_is_a_branch_and_the_clone_stays_as_it_is(
    remote: Remote, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone.root / "notes.md").write_text("being edited\n")
    (clone.root / "new").write_text("not added\n")
    git(clone.root, "add", "notes.md")
    before = (git(clone.root, "status", "--porcelain", "--branch"), git(clone.root, "rev-parse", "HEAD"))
    assert run(["bridge", "request", "--preset", PRESET, "--set", "samples=2", "--minutes", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert remote.branches() == [told["branch"]]
    assert remote.head(told["branch"]) == told["commit"]
    asked = manifest_of(clone, told["commit"])
    assert (asked.preset, asked.overrides.samples, asked.minutes, asked.base) == (PRESET, 2, 5, before[1])
    assert (git(clone.root, "status", "--porcelain", "--branch"), git(clone.root, "rev-parse", "HEAD")) == before
    assert git(clone.root, "branch", "--list").split() == ["*", "main"]


def test_changes_that_would_not_be_run_are_refused_unless_a_commit_is_named(
    remote: Remote, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone.root / "harness" / "b.py").write_text("b = 1\n")
    assert run(["bridge", "request", "--preset", PRESET]) == 3
    told = capsys.readouterr().err
    assert "harness/b.py" in told
    assert "--ref" in told
    assert remote.branches() == []
    assert run(["bridge", "request", "--preset", PRESET, "--ref", "HEAD"]) == 0
    assert len(remote.branches()) == 1


def test_a_nonce_serves_once(remote: Remote, clone: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["bridge", "request", "--preset", PRESET, "--nonce", NONCE]
    assert run(arguments) == 0
    head = remote.head(f"k3-bridge/{PRESET}-{NONCE}")
    assert run(arguments) == 3
    monkeypatch.chdir(remote.clone("second").root)
    assert run([*arguments, "--set", "samples=1"]) == 3
    assert remote.head(f"k3-bridge/{PRESET}-{NONCE}") == head


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--ref", "-x"], 64),
        (["--ref", "main..HEAD"], 64),
        (["--ref", "nothing"], 64),
        (["--remote", "--upload-pack=touch pwned"], 64),
        (["--remote", "ext::touch pwned"], 64),
        (["--remote", "upstream"], 3),
        (["--nonce", "../x"], 64),
        (["--set", "samples=51"], 64),
        (["--set", "model=${ENV:PATH}"], 64),
        (["--set", "workload.prompts=/etc/passwd"], 64),
        (["--set", "max_new_tokens=8"], 64),
        (["--minutes", "0"], 64),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_no_request_is_refused_in_one_line(
    remote: Remote, clone: Repository, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert run(["bridge", "request", "--preset", PRESET, *arguments]) == code
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert remote.branches() == []
    assert git(clone.root, "for-each-ref", "refs/k3-bridge") == ""


def test_a_preset_that_the_commit_has_otherwise_is_not_asked_for(
    remote: Remote, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bridge", "request", "--preset", "demo"]) == 3
    (clone.root / "presets" / f"{PRESET}.toml").write_text(read_preset(PRESET).decode() + "\n")
    git(clone.root, "commit", "--quiet", "--all", "--message", "edited")
    assert run(["bridge", "request", "--preset", PRESET]) == 3
    assert "ask from a K3 of that commit" in capsys.readouterr().err


def test_two_askers_and_their_status(
    remote: Remote, clone: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bridge", "request", "--preset", PRESET, "--nonce", NONCE]) == 0
    monkeypatch.chdir(remote.clone("second").root)
    assert run(["bridge", "request", "--preset", PRESET]) == 0
    git(remote.path, "branch", "k3-bridge/of-somebody", "main")
    capsys.readouterr()
    assert run(["bridge", "status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [line["state"] for line in told] == ["waiting", "waiting"]
    assert f"{PRESET}-{NONCE}" in [line["request"] for line in told]
    assert run(["bridge", "status"]) == 0
    assert capsys.readouterr().out.count("waiting") == 2


def test_of_processes_that_ask_at_once_each_with_a_nonce_of_its_own_is_heard_and_of_one_nonce_one(
    remote: Remote, clone: Repository
) -> None:
    clones = [clone, *(remote.clone(f"asker{number}") for number in range(3))]
    nonces = [NONCE, NONCE, NONCE, "f" * 16]
    asking = [
        bridge(one, "request", "--preset", PRESET, "--nonce", nonce) for one, nonce in zip(clones, nonces, strict=True)
    ]
    told = [process.communicate() for process in asking]
    codes = [process.returncode for process in asking]
    assert sorted(codes[:3]) == [0, 3, 3], told
    assert codes[3] == 0
    lines = [errors.strip() for code, (_, errors) in zip(codes, told, strict=True) if code]
    assert all(line == f"k3: k3-bridge/{PRESET}-{NONCE}: is on origin already: leave --nonce out" for line in lines)
    assert remote.branches() == [f"k3-bridge/{PRESET}-{nonce}" for nonce in (NONCE, "f" * 16)]
    winner = clones[codes.index(0)]
    assert remote.head(f"k3-bridge/{PRESET}-{NONCE}") == asked_commit(winner, RequestName(PRESET, NONCE))
    losers = [one for one, code in zip(clones, codes, strict=True) if code]
    assert [asked_commit(one, RequestName(PRESET, NONCE)) for one in losers] == [None, None]
    assert list(remote.path.rglob("*.lock")) == []


def test_without_a_clone_or_a_remote_one_line_says_so(
    remote: Remote,
    clone: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    remote.path.rename(tmp_path / "gone")
    assert run(["bridge", "status"]) == 3
    monkeypatch.chdir(tmp_path)
    assert run(["bridge", "status"]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 2
