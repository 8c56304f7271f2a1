"""Provenance names the code and the machine, and no person."""

import getpass
import socket
from pathlib import Path

import pytest

from harness.base import provenance
from harness.base.provenance import anonymous_argv, anonymous_setting
from harness.engines.mlx.blas import blas_threads
from harness.engines.spec import RemoteSpec


def test_nothing_names_the_user_or_the_host() -> None:
    text = provenance.read_host().model_dump_json()
    for secret in (socket.gethostname(), getpass.getuser() if getpass.getuser() != "root" else "\0"):
        assert secret not in text


def test_the_threads_of_the_blas_are_recorded() -> None:
    assert provenance.read_provenance([], "cpu", "BLAS", blas_threads()).blas_threads == blas_threads()


def test_the_code_that_runs_is_identified() -> None:
    source = provenance.read_source()
    assert source.git_commit is not None or source.files is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["eval", "--out", "~/x.json"], ["eval", "--out", "x.json"]),
        (["niah", "--out=/data/someone/r.json"], ["niah", "--out=r.json"]),
        (["tests", "results/of/ann/junit.xml", "/b/more.xml"], ["tests", "junit.xml", "more.xml"]),
        (["replay", "../clients/acme/r.json", "--rows", "3"], ["replay", "r.json", "--rows", "3"]),
        (["smoke", "--token-file", "/run/ann/k3.token", "--tls-ca=/run/ann/ca.pem"],
         ["smoke", "--token-file", "k3.token", "--tls-ca=ca.pem"]),
        (["train", "drafter", "/home/me/model", "--work", "/home/me/w", "--rate=5e-4"],
         ["train", "drafter", "model", "--work", "w", "--rate=5e-4"]),
        (["eval", "--set", "workload.prompts=/a/b.jsonl", "--set=workload.prompts=/a/b.jsonl"],
         ["eval", "--set", "workload.prompts=b.jsonl", "--set=workload.prompts=b.jsonl"]),
        (["niah", "--set", "model=/m/x", "--out", "/d/r.json"], ["niah", "--set", "model=/m/x", "--out", "r.json"]),
        (["smoke", "--address", "tls://host:1/x"], ["smoke", "--address", "tls://host:1/x"]),
        (["code", "--model", "org/a-model.v2"], ["code", "--model", "org/a-model.v2"]),
    ],
)  # fmt: skip
def test_files_and_folders_are_told_by_their_names_alone(words: list[str], told: list[str]) -> None:
    given = [word.replace("~", str(Path.home())) for word in words]
    assert anonymous_argv([f"{Path.home()}/bin/k3", *given]) == ("k3", *told)


def test_a_folder_that_is_there_is_no_id_on_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ann", "model").mkdir(parents=True)
    assert anonymous_argv(["k3", "code", "--model", "ann/model"])[-1] == "model"


def test_where_a_token_or_a_key_lies_is_not_told_of_a_setting() -> None:
    for name in RemoteSpec.model_fields.keys() - {"address", "timeout_s"}:
        setting = f'arms.there.remote.{name}="/run/ann/file"'
        assert anonymous_setting(setting) == f"arms.there.remote.{name}=file"
        assert anonymous_argv(["k3", "eval", "--set", setting])[3] == f"arms.there.remote.{name}=file"
