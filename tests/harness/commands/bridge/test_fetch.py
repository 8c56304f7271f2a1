"""`k3 bridge fetch`: an honest answer is judged and kept, a forged one is refused and leaves nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.bridge.git import Repository
from harness.bridge.manifest import MANIFEST
from harness.bridge.results import CLAIM, RESULT, RESULT_FOLDER, Result, record_bytes
from harness.bridge.trees import commit_files, entry_at, read_blob
from harness.cli import run
from reports.records.record import digest_of
from tests.harness.bridge.repositories import Remote, git
from tests.harness.bridge.stand_in import NONCE, PRESET, stand_in_remote

SHORT = f"{PRESET}-{NONCE}"
BRANCH = f"refs/heads/k3-bridge/{SHORT}"
REPORT = f"{PRESET}.json"


@pytest.fixture(name="once", scope="module")
def answered_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote, and a clone that asked and whose request an executor answered in another clone."""
    folder = tmp_path_factory.mktemp("answered")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("K3_STARTS", str(folder / "starts"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        remote = stand_in_remote(folder)
        asker, clone = remote.clone("asker"), remote.clone("executor")
        patch.chdir(asker.root)
        assert run(["bridge", "request", "--preset", PRESET, "--nonce", NONCE]) == 0
        patch.chdir(clone.root)
        assert run(["bridge", "run", "--environment", "running"]) == 0
    asker.git("fetch", "--quiet", "origin", BRANCH)
    return folder


@pytest.fixture(name="asker")
def asking_clone(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A copy of both for one test."""
    for name in ("remote.git", "asker"):
        shutil.copytree(once / name, tmp_path / name)
    git(tmp_path / "asker", "remote", "set-url", "origin", str(tmp_path / "remote.git"))
    monkeypatch.chdir(tmp_path / "asker")
    return Repository(tmp_path / "asker")


def head(asker: Repository) -> str:
    return git(asker.root, "rev-parse", "FETCH_HEAD")


def content(asker: Repository, name: str) -> bytes:
    entry = entry_at(asker, head(asker), RESULT_FOLDER + name)
    assert entry is not None
    return read_blob(asker, entry.blob)


def result(asker: Repository) -> Result:
    return Result.model_validate_json(content(asker, RESULT))


def put(asker: Repository, commit: str) -> None:
    git(asker.root, "push", "--quiet", "--force", "origin", f"{commit}:{BRANCH}")


def answer_again(asker: Repository, written: dict[str, bytes], **changed: object) -> None:
    """An answer in place of the executor's, on the same claim."""
    names = [file.name for file in result(asker).files]
    placed = {name: content(asker, name) for name in names} | written
    told = record_bytes(result(asker).replace(**changed))
    placed_at = {RESULT_FOLDER + name: data for name, data in (placed | {RESULT: told}).items()}
    put(asker, commit_files(asker, f"{head(asker)}~1", placed_at, "forged"))


def retold(asker: Repository, files: dict[str, bytes]) -> dict[str, object]:
    """The list of files with the digests of these."""
    kept = [
        file.replace(bytes=len(files[file.name]), digest=digest_of(files[file.name])) if file.name in files else file
        for file in result(asker).files
    ]
    return {"files": tuple(kept)}


def an_edited_report(asker: Repository) -> None:
    answer_again(asker, {REPORT: content(asker, REPORT).replace(b'"equal": true', b'"equal": false', 1) + b" "})


def an_edited_report_with_its_digest(asker: Repository) -> None:
    edited = {REPORT: content(asker, REPORT).replace(b'"seed": 42', b'"seed": 43').replace(b'"seed":42', b'"seed":43')}
    assert edited[REPORT] != content(asker, REPORT)
    answer_again(asker, edited, **retold(asker, edited))


def a_report_of_another_commit(asker: Repository) -> None:
    base = result(asker).base
    assert base is not None
    edited = {REPORT: content(asker, REPORT).replace(base.encode(), b"a" * 40)}
    answer_again(asker, edited, **retold(asker, edited))


def another_nonce(asker: Repository) -> None:
    answer_again(asker, {}, nonce="f" * 16)


def another_commit(asker: Repository) -> None:
    answer_again(asker, {}, base="f" * 40)


def another_digest(asker: Repository) -> None:
    answer_again(asker, {}, preset_digest="sha256:" + "f" * 64)


def another_verdict(asker: Repository) -> None:
    kept = tuple(file.replace(verdict="withheld") if file.verdict else file for file in result(asker).files)
    answer_again(asker, {}, files=kept)


def a_pointer(asker: Repository) -> None:
    pointer = {REPORT: f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12\n".encode()}
    answer_again(asker, pointer, **retold(asker, pointer))


def more_files(asker: Repository) -> None:
    answer_again(asker, {"extra.json": b"{}"})


def a_path_out(asker: Repository) -> None:
    answer_again(asker, {"deep/er.json": b"{}"})


def no_claim(asker: Repository) -> None:
    files = {RESULT_FOLDER + file.name: content(asker, file.name) for file in result(asker).files}
    files[RESULT_FOLDER + RESULT] = content(asker, RESULT)
    put(asker, commit_files(asker, f"{head(asker)}~2", files, "forged"))


def a_commit_on_top(asker: Repository) -> None:
    put(asker, commit_files(asker, head(asker), {RESULT_FOLDER + REPORT: b"{}"}, "edited"))


def a_result_on_top(asker: Repository) -> None:
    put(asker, commit_files(asker, head(asker), {RESULT_FOLDER + RESULT: b"{}"}, "edited"))


def a_rebased_branch(asker: Repository) -> None:
    request = entry_at(asker, head(asker), MANIFEST)
    claim = entry_at(asker, head(asker), CLAIM)
    assert request is not None
    assert claim is not None
    below = commit_files(asker, f"{head(asker)}~3", {MANIFEST: read_blob(asker, request.blob)}, "another message")
    taken = commit_files(asker, below, {CLAIM: read_blob(asker, claim.blob)}, "take")
    files = {RESULT_FOLDER + file.name: content(asker, file.name) for file in result(asker).files}
    files[RESULT_FOLDER + RESULT] = record_bytes(result(asker).replace(request=below))
    put(asker, commit_files(asker, taken, files, "answer"))


def code_beside_the_answer(asker: Repository) -> None:
    files = {RESULT_FOLDER + file.name: content(asker, file.name) for file in result(asker).files}
    files |= {RESULT_FOLDER + RESULT: content(asker, RESULT), "harness/cli.py": b"print('pwned')"}
    put(asker, commit_files(asker, f"{head(asker)}~1", files, "forged"))


FORGERIES: list[tuple[Callable[[Repository], None], str]] = [
    (an_edited_report, "was changed after the executor wrote it"),
    (an_edited_report_with_its_digest, "judged here it is"),
    (a_report_of_another_commit, "provenance.source"),
    (another_nonce, "nonce"),
    (another_commit, "base"),
    (another_digest, "preset_digest"),
    (another_verdict, "its executor says withheld"),
    (a_pointer, f"{REPORT}: a Git-LFS pointer"),
    (more_files, "names others than came"),
    (a_path_out, "it changes .k3-bridge/result/deep/er.json"),
    (no_claim, "no executor took the request"),
    (a_commit_on_top, "the branch was rewritten"),
    (a_result_on_top, "the branch was rewritten"),
    (a_rebased_branch, "the branch was rewritten"),
    (code_beside_the_answer, "harness/cli.py"),
]


def test_an_honest_answer_is_kept_as_it_is_judged_here(asker: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["bridge", "fetch", SHORT, "--out", "here", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["reports"] == [{"file": REPORT, "verdict": "admissible", "codes": []}]
    assert sorted(path.name for path in Path("here").iterdir()) == sorted([REPORT, "log.txt", RESULT])
    assert run(["gate", "check", "here"]) == 0
    assert run(["bridge", "fetch", SHORT, "--out", "here"]) == 3
    assert run(["bridge", "status"]) == 0
    assert f"{REPORT} admissible" in capsys.readouterr().out


@pytest.mark.parametrize(("forge", "told"), FORGERIES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_forged_answer_is_refused_and_leaves_nothing(
    asker: Repository, capsys: pytest.CaptureFixture[str], forge: Callable[[Repository], None], told: str
) -> None:
    forge(asker)
    capsys.readouterr()
    before = sorted(Path().iterdir())
    assert run(["bridge", "fetch", SHORT, "--out", "here"]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == 1
    assert sorted(Path().iterdir()) == before


def test_what_is_not_answered_yet_says_so(asker: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for depth, state in ((2, "waiting"), (1, "claimed")):
        put(asker, git(asker.root, "rev-parse", f"{head(asker)}~{depth}"))
        assert run(["bridge", "fetch", SHORT]) == 3
        assert f"is {state}, not answered" in capsys.readouterr().err
    git(asker.root, "push", "--quiet", "origin", f":{BRANCH}")
    assert run(["bridge", "fetch", SHORT]) == 3
    assert "withdrawn" in capsys.readouterr().err


def test_a_reviewer_names_the_request_and_the_keys(
    asker: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = git(asker.root, "rev-parse", f"{head(asker)}~2")
    monkeypatch.chdir(Remote(tmp_path / "remote.git").clone("reviewer").root)
    assert run(["bridge", "fetch", SHORT, "--out", "here"]) == 3
    assert run(["bridge", "fetch", SHORT, "--out", "here", "--asked", request, "--signers", "nobody"]) == 2
    assert "not signed" in capsys.readouterr().err
    assert run(["bridge", "fetch", SHORT, "--out", "here", "--asked", request]) == 0
