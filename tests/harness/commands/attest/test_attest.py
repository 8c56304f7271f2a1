"""`k3 attest` and `k3 gate check --require-attested`, from a key to a refusal."""

import json
import random
from pathlib import Path

import pytest

from gate.judging.rule_set import RULE_SET
from harness.attestation.dsse import envelope_path
from harness.attestation.keys import read_private_key
from harness.cli import run
from reports.report import load_report, report_bytes
from tests.gate.honest import Setup, honest_code, honest_parity
from tests.harness.commands.attest.forgeries import FORGERIES, Desk, Files, campaign


@pytest.fixture(name="folder")
def signed_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A report, its envelope, a key `key` and its public half."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "run.json").write_bytes(report_bytes(honest_parity(Setup(samples=5))))
    assert run(["attest", "keygen", "--out", str(tmp_path / "key")]) == 0
    assert run(["attest", "sign", str(folder / "run.json"), "--key", str(tmp_path / "key")]) == 0
    capsys.readouterr()
    return folder


def check(folder: Path, keys: Path | None = None, *more: str) -> int:
    return run(["gate", "check", str(folder), "--require-attested", str(keys or folder.parent / "key.pub"), *more])


def test_a_statement_says_what_the_gate_said(folder: Path) -> None:
    desk = Desk(folder)
    statement = desk.files(random.Random(0)).statement
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    (subject,) = statement["subject"]
    assert subject["name"] == "run.json"
    assert set(subject["digest"]) == {"sha256", "k3Content"}
    predicate = statement["predicate"]
    report = load_report(desk.path)
    assert (predicate["verdict"], predicate["rule_set"], predicate["kind"]) == ("admissible", RULE_SET, "parity")
    assert [(one["name"], one["value"], one["status"]) for one in predicate["claims"]] == [
        (claim.name, claim.value, "admitted") for claim in report.claims
    ]


def test_what_was_signed_is_verified_and_the_gate_is_satisfied(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["attest", "verify", str(folder / "run.json"), "--keys", str(folder.parent / "key.pub")]
    assert run(verify) == 0
    assert "signed by sha256:" in capsys.readouterr().out
    assert run([*verify, "--json"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert outcome["key"].startswith("sha256:")
    assert check(folder) == 0


def test_the_gate_bars_what_is_not_signed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.json").write_bytes(report_bytes(honest_code(Setup(samples=6, draft_arms=("ngram",)))))
    assert run(["gate", "check", str(folder)]) == 0
    capsys.readouterr()
    assert check(folder, None, "--format", "json") == 2
    other, signed = json.loads(capsys.readouterr().out)
    assert [violation["code"] for violation in other["violations"]] == ["NOT_ATTESTED"]
    assert {claim["status"] for claim in other["claims"]} == {"withheld"}
    assert (other["verdict"], signed["verdict"]) == ("withheld", "admissible")


def test_another_key_is_not_trusted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attest", "keygen", "--out", str(folder.parent / "other")]) == 0
    assert check(folder, folder.parent / "other.pub") == 2
    assert "no signature is of a trusted key" in capsys.readouterr().out
    assert check(folder, folder.parent / "gone.pub") == 3


def test_older_rules_that_said_the_same_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = read_private_key(folder.parent / "key")
    path = folder / "run.json"
    files = Files(path.read_bytes(), envelope_path(path).read_bytes(), key, random.Random(0))
    statement = files.statement
    statement["predicate"]["rule_set"] = RULE_SET - 1
    files.signed_again(statement)
    envelope_path(path).write_bytes(files.envelope)
    assert run(["attest", "verify", str(path), "--keys", str(folder.parent / "key.pub")]) == 0
    assert f"by rule set {RULE_SET - 1}; judged again by this gate's newer one, the same" in capsys.readouterr().out
    assert check(folder) == 0


def test_a_downgrade_is_told_and_refused(folder: Path) -> None:
    desk = Desk(folder)
    files = desk.files(random.Random(0))
    statement = files.statement
    statement["predicate"] |= {"rule_set": RULE_SET - 1, "verdict": "withheld"}
    files.signed_again(statement)
    told = desk.refusal(files)
    assert told == (
        f"signed as withheld by rule set {RULE_SET - 1}, an older one; by this gate's, {RULE_SET}, it is admissible"
    )


def test_no_envelope_is_overwritten_and_what_says_nothing_is_not_signed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = str(folder.parent / "key"), str(folder.parent / "other")
    assert run(["attest", "keygen", "--out", other]) == 0
    before = (folder / "run.json.dsse").read_bytes()
    assert run(["attest", "sign", str(folder / "run.json"), "--key", other]) == 3
    assert "exists (no signature is of a trusted key); delete it" in capsys.readouterr().err
    report = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(report + b"\n")
    assert run(["attest", "sign", str(folder / "run.json"), "--key", key]) == 3
    assert "exists (the file is not the one that was signed" in capsys.readouterr().err
    (folder / "run.json").write_bytes(report)
    assert (folder / "run.json.dsse").read_bytes() == before
    for name, text in (("no.json", "{}"), ("bad.json", '{"kind": "niah", "schema_version": 2, "arms": 3}')):
        (folder / name).write_text(text)
        assert run(["attest", "sign", str(folder / name), "--key", key]) == 3
        assert not (folder / f"{name}.dsse").exists()
    assert run(["attest", "sign", str(folder / "gone.json"), "--key", key]) == 3


def test_a_folder_to_which_a_report_came_is_signed_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "run.json.dsse").read_bytes()
    (folder / "new.json").write_bytes(report_bytes(honest_parity(Setup(samples=6))))
    both = [str(folder / "run.json"), str(folder / "new.json")]
    assert run(["attest", "sign", *both, "--key", str(folder.parent / "key")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in told] == ["signed before, and unchanged", "signed"]
    assert (folder / "run.json.dsse").read_bytes() == before
    assert check(folder) == 0


def test_every_way_of_forging_is_refused(tmp_path: Path) -> None:
    """Each way several times; `python -m tests.harness.commands.attest.forgeries` tries 2,000."""
    tried, passed = campaign(tmp_path, 5 * len(FORGERIES), seed=1)
    assert set(tried) == {forge.__name__ for forge in FORGERIES}
    assert passed == []


def test_the_honest_files_pass(tmp_path: Path) -> None:
    """Else the campaign would refuse everything."""
    desk = Desk(tmp_path)
    assert desk.refusal(desk.files(random.Random(0))) is None
    laid_out = desk.files(random.Random(0))
    laid_out.envelope = json.dumps(laid_out.document).encode()
    assert desk.refusal(laid_out) is None


def test_a_report_that_is_not_there_cannot_be_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gone.json", "."):
        assert run(["attest", "verify", str(folder / name), "--keys", str(folder.parent / "key.pub")]) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert "NOT ATTESTED" not in line


def test_nothing_is_signed_where_one_of_several_cannot_be(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = folder / "other.json"
    other.write_bytes((folder / "run.json").read_bytes())
    (folder / "run.json").write_bytes(other.read_bytes() + b"\n")
    key = ["--key", str(folder.parent / "key")]
    assert run(["attest", "sign", str(other), str(folder / "run.json"), *key]) == 3
    assert not envelope_path(other).exists()
    assert run(["attest", "sign", str(other), str(other), *key]) == 0
    assert capsys.readouterr().out.count("signed:") == 1
