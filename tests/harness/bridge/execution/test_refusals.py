"""Hostile requests: refused in one line on their branch, or left alone, and no command is started."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.bridge.exchange import bring, exchange_of, list_requests
from harness.bridge.execution.answering import RESULT
from harness.bridge.git import Repository
from harness.bridge.manifest import MANIFEST, Request
from harness.bridge.names import request_named
from harness.bridge.results import RESULT_FOLDER, read_result, record_bytes
from harness.bridge.trees import LINK, SUBMODULE, commit_files, entry_at
from harness.cli import run
from harness.plans.preset_file import load_preset, read_preset
from tests.harness.bridge.repositories import ENVIRONMENT, Remote, git
from tests.harness.bridge.stand_in import NONCE, PRESET, stand_in_remote

NAME = request_named(f"{PRESET}-{NONCE}")
PRESET_FILE = f"presets/{PRESET}.toml"


@pytest.fixture(name="remote")
def bare_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Remote:
    monkeypatch.setenv("K3_STARTS", str(tmp_path / "starts"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return stand_in_remote(tmp_path)


@pytest.fixture(name="asker")
def hostile_clone(remote: Remote) -> Repository:
    return remote.clone("asker")


@pytest.fixture(name="clone")
def executing_clone(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> Repository:
    clone = remote.clone("executor")
    monkeypatch.chdir(clone.root)
    return clone


def head(asker: Repository) -> str:
    found = asker.commit("HEAD")
    assert found is not None
    return found


def manifest(asker: Repository, **changed: object) -> bytes:
    told = {
        "preset": PRESET,
        "preset_digest": load_preset(PRESET).digest,
        "nonce": NONCE,
        "base": head(asker),
        "k3_version": "0.1.0",
        "rule_set": 3,
        "minutes": 5,
    }
    return record_bytes(Request.model_validate(told | changed))


def push(asker: Repository, commit: str) -> None:
    asker.git("push", "--quiet", "origin", f"{commit}:refs/heads/{NAME.branch}")


def ask(asker: Repository, **changed: object) -> None:
    push(asker, commit_files(asker, head(asker), {MANIFEST: manifest(asker, **changed)}, "ask"))


def commit(asker: Repository, files: dict[str, str | bytes]) -> None:
    for path, text in files.items():
        (asker.root / path).parent.mkdir(parents=True, exist_ok=True)
        (asker.root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    git(asker.root, "add", "--all")
    git(asker.root, "commit", "--quiet", "--message", "changed")


def staged(asker: Repository, mode: str, blob: str, path: str) -> None:
    git(asker.root, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
    git(asker.root, "commit", "--quiet", "--message", "staged")


def blob(asker: Repository, data: bytes) -> str:
    return asker.git("hash-object", "-w", "--stdin", given=data).decode().strip()


def a_submodule(asker: Repository) -> None:
    staged(asker, SUBMODULE, head(asker), "vendor")
    ask(asker)


def a_link(asker: Repository) -> None:
    staged(asker, LINK, blob(asker, b"/etc/passwd"), "harness/link.py")
    ask(asker)


def a_preset_that_runs_something_else(asker: Repository) -> None:
    commit(asker, {PRESET_FILE: read_preset(PRESET).replace(b"k3-tiny-dflash", b"../../elsewhere")})
    ask(asker)


def a_preset_of_another_digest(asker: Repository) -> None:
    ask(asker, preset_digest="sha256:" + "0" * 64)


def a_pointer_in_place_of_weights(asker: Repository) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 123456\n"
    commit(asker, {"weights/model.safetensors": pointer})
    ask(asker)


def an_override_that_the_preset_has_not(asker: Repository) -> None:
    ask(asker, overrides={"max_new_tokens": 8})


def a_suite_that_nobody_has(asker: Repository) -> None:
    ask(asker, kind="suite")


def a_manifest_that_is_a_link(asker: Repository) -> None:
    above = head(asker)
    staged(asker, LINK, blob(asker, b"/etc/passwd"), MANIFEST)
    assert above != head(asker)
    push(asker, head(asker))


def a_manifest_of_100_mb(asker: Repository) -> None:
    push(asker, commit_files(asker, head(asker), {MANIFEST: b" " * 100_000_000}, "ask"))


def a_manifest_in_a_folder_that_is_a_link(asker: Repository) -> None:
    staged(asker, LINK, blob(asker, b"/etc"), ".k3-bridge")
    push(asker, head(asker))


def more_than_a_manifest(asker: Repository) -> None:
    files = {MANIFEST: manifest(asker), "harness/cli.py": b"print('pwned')"}
    push(asker, commit_files(asker, head(asker), files, "ask"))


def a_request_of_another_branch(asker: Repository) -> None:
    ask(asker, nonce="f" * 16)


def a_request_for_another_commit(asker: Repository) -> None:
    ask(asker, base="f" * 40)


def a_merge(asker: Repository) -> None:
    first = head(asker)
    commit(asker, {"notes": "x"})
    tree = asker.text("rev-parse", commit_files(asker, head(asker), {MANIFEST: manifest(asker)}, "ask") + "^{tree}")
    push(asker, asker.text("commit-tree", "-p", first, "-p", head(asker), "-m", "ask", tree))


def a_commit_without_a_parent(asker: Repository) -> None:
    tree = asker.text("rev-parse", commit_files(asker, head(asker), {MANIFEST: manifest(asker)}, "ask") + "^{tree}")
    push(asker, asker.text("commit-tree", "-m", "ask", tree))


def no_request_at_all(asker: Repository) -> None:
    push(asker, head(asker))


HOSTILE: list[tuple[Callable[[Repository], None], str]] = [
    (a_submodule, "vendor: is a submodule"),
    (a_link, "harness/link.py: is a symbolic link"),
    (a_preset_that_runs_something_else, "was edited in the commit"),
    (a_preset_of_another_digest, "preset_digest"),
    (a_pointer_in_place_of_weights, "weights/model.safetensors: a Git-LFS pointer"),
    (an_override_that_the_preset_has_not, "max_new_tokens"),
    (a_suite_that_nobody_has, "suite 'parity-tiny-recorded' is unknown"),
    (a_manifest_that_is_a_link, "is a symbolic link, not a plain file"),
    (a_manifest_of_100_mb, "100000000 bytes"),
    (a_manifest_in_a_folder_that_is_a_link, "does not add"),
    (more_than_a_manifest, "and nothing else"),
    (a_request_of_another_branch, "are not those of its branch"),
    (a_request_for_another_commit, "base"),
    (a_merge, "2 parents"),
    (a_commit_without_a_parent, "0 parents"),
    (no_request_at_all, "0 parents"),
]


@pytest.mark.parametrize(("spoil", "told"), HOSTILE, ids=lambda value: getattr(value, "__name__", ""))
def test_a_hostile_request_is_refused_on_its_branch_and_starts_nothing(
    clone: Repository, asker: Repository, tmp_path: Path, spoil: Callable[[Repository], None], told: str
) -> None:
    spoil(asker)
    assert run(["bridge", "run", "--environment", "running"]) == 0
    heads = list_requests(clone, "origin")
    bring(clone, "origin", heads)
    found = exchange_of(clone, NAME, heads[NAME])
    assert found.result is not None
    result = read_result(clone, found.result)
    assert result.outcome == "refused"
    assert result.reason is not None
    assert told in result.reason
    assert result.reason.isprintable()
    assert not (tmp_path / "starts").exists()
    assert run(["bridge", "run", "--environment", "running"]) == 0
    assert list_requests(clone, "origin") == heads
    assert list((clone.root / ".git" / "k3-bridge").iterdir()) == []


COMMANDS_OF_GIT = (
    *(f"filter.evil.{setting}" for setting in ("clean", "smudge", "process")),
    *(f"diff.evil.{setting}" for setting in ("command", "textconv")),
    *("diff.external", "merge.evil.driver", "core.fsmonitor", "core.pager", "core.editor", "core.askPass"),
    *("gpg.program", "credential.helper", "uploadpack.packObjectsHook", "core.alternateRefsCommand"),
)
"""What of a clone's config git would run, some for a path whose attributes ask for it."""


def test_hooks_attributes_and_filters_take_no_part(
    clone: Repository, asker: Repository, tmp_path: Path, remote: Remote
) -> None:
    attributes = "* filter=evil diff=evil merge=evil export-subst ident\n"
    commit(asker, {".gitattributes": attributes, "crlf.txt": b"a\r\nb\n$Format:%H$\n"})
    ask(asker)
    for setting in COMMANDS_OF_GIT:
        git(clone.root, "config", setting, f"touch {tmp_path}/pwned")
    git(clone.root, "config", "core.hooksPath", str(clone.root / ".githooks"))
    os.chmod(clone.root / ".githooks" / "post-checkout", 0o755)
    assert run(["bridge", "run", "--environment", "running"]) == 0
    assert (tmp_path / "starts").exists()
    assert not (tmp_path / "pwned").exists()


def test_one_branch_that_git_refuses_keeps_no_other_from_its_turn(
    clone: Repository, asker: Repository, remote: Remote
) -> None:
    ask(asker)
    tree = asker.git("mktree", given=b"100644 blob " + blob(asker, b"[core]").encode() + b"\t.git\n").decode().strip()
    bad = asker.text("commit-tree", "-m", "bad", tree)
    asker.git("push", "--quiet", "origin", f"{bad}:refs/heads/k3-bridge/{PRESET}-{'f' * 16}")
    assert run(["bridge", "run", "--environment", "running"]) == 0
    heads = list_requests(clone, "origin")
    assert exchange_of(clone, NAME, heads[NAME]).state == "answered"


POLICIES = [
    ('presets = ["demo"]', {}, "not allowed here"),
    ('suites = ["doctor"]', {}, "not allowed here"),
    ("samples = 2", {"overrides": {"samples": 3}}, "3 samples"),
    ("minutes = 4", {}, "5 minutes"),
    ('models = ["K3_OTHER"]', {"overrides": {"model": "${ENV:K3_STARTS}"}}, "not allowed here"),
    ("", {"overrides": {"model": "${ENV:K3_NOT_THERE}"}}, "not set here"),
    ('commits_on = "release"', {}, "no branch release"),
]


@pytest.mark.parametrize(
    ("policy", "changed", "told"), POLICIES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_the_owner_does_not_allow_is_left_to_others(
    clone: Repository,
    asker: Repository,
    remote: Remote,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    policy: str,
    changed: dict[str, object],
    told: str,
) -> None:
    (tmp_path / "policy.toml").write_text(policy)
    ask(asker, **changed)
    before = remote.head(NAME.branch)
    assert run(["bridge", "run", "--environment", "running", "--policy", str(tmp_path / "policy.toml")]) == 0
    assert told in capsys.readouterr().err
    assert remote.head(NAME.branch) == before
    assert not (tmp_path / "starts").exists()


def test_only_commits_of_the_branch_that_the_owner_names_run(
    clone: Repository, asker: Repository, tmp_path: Path, remote: Remote
) -> None:
    (tmp_path / "policy.toml").write_text('commits_on = "main"')
    commit(asker, {"harness/cli.py": "print('pwned')"})
    ask(asker)
    arguments = ["bridge", "run", "--environment", "running", "--policy", str(tmp_path / "policy.toml")]
    before = remote.head(NAME.branch)
    assert run(arguments) == 0
    assert remote.head(NAME.branch) == before
    asker.git("push", "--quiet", "origin", "HEAD:main")
    assert run(arguments) == 0
    assert remote.head(NAME.branch) != before


def test_only_signed_requests_run_where_the_owner_names_signers(
    clone: Repository, asker: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: Remote
) -> None:
    keys = {}
    for who in ("friend", "stranger"):
        keys[who] = tmp_path / who
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", str(keys[who])]
        subprocess.run(command, check=True, env=dict(os.environ) | ENVIRONMENT)
    (tmp_path / "signers").write_text(f"friend {keys['friend'].with_suffix('.pub').read_text()}")
    (tmp_path / "policy.toml").write_text(f'signers = "{tmp_path}/signers"')
    for nonce, key in (
        ("a" * 16, []),
        ("b" * 16, ["--key", str(keys["stranger"])]),
        ("c" * 16, ["--key", str(keys["friend"])]),
    ):
        monkeypatch.chdir(asker.root)
        assert run(["bridge", "request", "--preset", PRESET, "--nonce", nonce, *key]) == 0
    monkeypatch.chdir(clone.root)
    assert run(["bridge", "run", "--environment", "running", "--policy", str(tmp_path / "policy.toml")]) == 0
    assert len((tmp_path / "starts").read_text().splitlines()) == 1
    bring(clone, "origin", list_requests(clone, "origin"))
    answered = {nonce: remote.head(f"k3-bridge/{PRESET}-{nonce * 16}") or "" for nonce in "abc"}
    has_result = {
        nonce: entry_at(clone, found, RESULT_FOLDER + RESULT) is not None for nonce, found in answered.items()
    }
    assert has_result == {"a": False, "b": False, "c": True}


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("broken", "no TOML"),
        ("unknown = 1", "toml: unknown: "),
        ("samples = 0", "toml: samples: "),
        ("samples = true", "toml: samples: "),
        ('commits_on = "-x"', "toml: commits_on: "),
    ],
)
def test_a_policy_that_is_none_stops_the_executor(
    clone: Repository, asker: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str], policy: str, told: str
) -> None:
    (tmp_path / "policy.toml").write_text(policy)
    ask(asker)
    assert run(["bridge", "run", "--environment", "running", "--policy", str(tmp_path / "policy.toml")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not (tmp_path / "starts").exists()
