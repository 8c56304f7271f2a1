"""`k3 bridge run` against a bare remote: requests are answered once, and nothing runs that was not agreed to."""

import signal
import threading
from pathlib import Path

import pytest

from harness.bridge.exchange import Exchange, bring, exchange_of, list_requests
from harness.bridge.execution.job import Desk
from harness.bridge.git import Repository
from harness.bridge.names import request_named
from harness.bridge.results import RESULT_FOLDER, Result, read_result
from harness.bridge.trees import entry_at, read_blob
from harness.cli import run
from tests.harness.bridge.repositories import Remote
from tests.harness.bridge.stand_in import NONCE, PRESET, executor, stand_in_remote

NAME = request_named(f"{PRESET}-{NONCE}")
REF = f"refs/heads/{NAME.branch}"


@pytest.fixture(name="remote")
def bare_remote(tmp_path: Path) -> Remote:
    return stand_in_remote(tmp_path)


@pytest.fixture(name="starts")
def file_of_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("K3_STARTS", str(tmp_path / "starts"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "starts"


@pytest.fixture(name="clone")
def executing_clone(remote: Remote, starts: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A clone that has asked and now executes: what a person would try first."""
    clone = remote.clone("both")
    monkeypatch.chdir(clone.root)
    return clone


def ask(*more: str, nonce: str = NONCE) -> None:
    assert run(["bridge", "request", "--preset", PRESET, "--nonce", nonce, *more]) == 0


def exchange(clone: Repository) -> Exchange:
    heads = list_requests(clone, "origin")
    bring(clone, "origin", heads)
    return exchange_of(clone, NAME, heads[NAME])


def answer(clone: Repository) -> Result:
    found = exchange(clone)
    assert found.result is not None
    return read_result(clone, found.result)


def lines(starts: Path) -> list[str]:
    return starts.read_text().splitlines() if starts.exists() else []


def swept(clone: Repository) -> bool:
    """Nothing is left of a job: no lock, no work, nothing of git's."""
    left = [path.name for path in Desk(clone).folder.iterdir()]
    return left == [] and not list((clone.root / ".git").rglob("*.lock"))


def test_a_request_is_answered_once(clone: Repository, starts: Path, tmp_path: Path) -> None:
    ask("--set", "samples=2")
    assert run(["bridge", "run", "--environment", "running", "--once"]) == 0
    found, result = exchange(clone), answer(clone)
    assert found.claim is not None
    assert (result.outcome, result.exit_code, result.attempts, result.request) == ("finished", 0, 1, found.request)
    report = {file.name: file for file in result.files}[f"{PRESET}.json"]
    assert report.verdict == "admissible"
    entry = entry_at(clone, found.head, f"{RESULT_FOLDER}log.txt")
    assert entry is not None
    assert read_blob(clone, entry.blob).startswith(b"measuring in ~")
    assert [line.split(" ", 1)[1].split(" --out")[0] for line in lines(starts)] == [
        f"eval --preset {PRESET} --set samples=2"
    ]
    assert run(["bridge", "run", "--environment", "running"]) == 0
    assert len(lines(starts)) == 1
    assert swept(clone)
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_fails_comes_back_with_its_code_and_last_words(
    clone: Repository, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K3_FAIL", "1")
    ask()
    assert run(["bridge", "run", "--environment", "running"]) == 0
    result = answer(clone)
    assert (result.outcome, result.exit_code, result.reason) == ("failed", 1, "no model here")
    assert [file.name for file in result.files] == ["log.txt"]


def test_the_command_sees_no_agent_and_no_token(
    clone: Repository, starts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    code = (clone.root / "harness" / "cli.py").read_text()
    (clone.root / "harness" / "cli.py").write_text(
        code + "\nopen(os.environ['K3_SEEN'], 'w').write(repr(dict(os.environ)))"
    )
    monkeypatch.setenv("K3_SEEN", str(tmp_path / "seen"))
    commit_all(clone)
    ask()
    assert run(["bridge", "run", "--environment", "running"]) == 0
    seen = (tmp_path / "seen").read_text()
    assert "K3_STARTS" in seen
    assert not {"SSH_AUTH_SOCK", "GITHUB_TOKEN", "GIT_", "PYTHONPATH"} & set(seen.replace("'", " ").split())


def test_two_executors_never_run_one_request_twice(remote: Remote, clone: Repository, starts: Path) -> None:
    nonces = [f"{number:016x}" for number in range(3)]
    for nonce in nonces:
        ask(nonce=nonce)
    others = [executor(remote.clone(f"executor{number}"), K3_SLEEP="0.3") for number in range(2)]
    for other in others:
        _, told = other.communicate(timeout=600)
        assert other.returncode == 0, told
    assert len(lines(starts)) == 3
    for nonce in nonces:
        head = remote.head(f"k3-bridge/{PRESET}-{nonce}")
        assert head is not None
        bring(clone, "origin", list_requests(clone, "origin"))
        assert read_result(clone, head).attempts == 1


def test_one_clone_has_one_executor(clone: Repository, starts: Path) -> None:
    ask()
    first = executor(clone, K3_SLEEP="3")
    while not lines(starts):
        assert first.poll() is None
        threading.Event().wait(0.05)
    assert run(["bridge", "run", "--environment", "running"]) == 3
    _, told = first.communicate(timeout=600)
    assert first.returncode == 0, told
    assert len(lines(starts)) == 1


def test_a_remote_that_is_gone_at_the_push_loses_nothing(
    remote: Remote, clone: Repository, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    monkeypatch.setenv("K3_HIDE", str(remote.path))
    assert run(["bridge", "run", "--environment", "running", "--patience", "0"]) == 3
    assert run(["bridge", "run", "--environment", "running", "--patience", "0"]) == 3
    remote.path.with_name(remote.path.name + ".gone").rename(remote.path)
    assert run(["bridge", "run", "--environment", "running"]) == 0
    assert answer(clone).outcome == "finished"
    assert len(lines(starts)) == 1
    assert swept(clone)


def test_a_remote_that_comes_back_is_waited_for(
    remote: Remote, clone: Repository, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    monkeypatch.setenv("K3_HIDE", str(remote.path))
    gone = remote.path.with_name(remote.path.name + ".gone")

    def back() -> None:
        while not gone.exists():
            threading.Event().wait(0.05)
        threading.Event().wait(0.5)
        gone.rename(remote.path)

    waiter = threading.Thread(target=back)
    waiter.start()
    assert run(["bridge", "run", "--environment", "running", "--patience", "30"]) == 0
    waiter.join()
    assert answer(clone).outcome == "finished"


def test_an_answer_whose_branch_is_gone_is_kept_here(
    remote: Remote, clone: Repository, starts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask()
    monkeypatch.setenv("K3_WITHDRAW", str(remote.path))
    monkeypatch.setenv("K3_BRANCH", REF)
    assert run(["bridge", "run", "--environment", "running"]) == 0
    assert "the answer is kept as refs/k3-bridge/kept/" in capsys.readouterr().err
    kept = clone.commit(f"refs/k3-bridge/kept/{PRESET}-{NONCE}")
    assert kept is not None
    assert read_result(clone, kept).outcome == "finished"
    assert remote.branches() == []
    assert swept(clone)


@pytest.mark.parametrize("wait", [0.0, 0.2, 0.6])
def test_kill_9_while_it_runs_ends_in_one_answer(clone: Repository, starts: Path, wait: float) -> None:
    ask()
    first = executor(clone, K3_SLEEP="0.4")
    while not lines(starts):
        assert first.poll() is None
        threading.Event().wait(0.02)
    threading.Event().wait(wait)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert run(["bridge", "run", "--environment", "running"]) == 0
    result = answer(clone)
    assert result.outcome == "finished"
    assert result.attempts == len(lines(starts)) <= 2
    assert swept(clone)


def test_a_request_that_is_killed_each_time_is_answered_so(clone: Repository, starts: Path) -> None:
    ask()
    for number in range(1, 4):
        first = executor(clone, K3_SLEEP="60")
        while len(lines(starts)) < number:
            assert first.poll() is None
            threading.Event().wait(0.02)
        first.send_signal(signal.SIGKILL)
        first.communicate()
    assert run(["bridge", "run", "--environment", "running"]) == 0
    result = answer(clone)
    assert (result.outcome, result.attempts, result.reason) == ("interrupted", 3, "killed each time it was started")
    assert swept(clone)


def commit_all(clone: Repository) -> str:
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message", "changed")
    head = clone.commit("HEAD")
    assert head is not None
    return head
