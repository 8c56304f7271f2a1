"""Provenance names the code and the machine, and no person."""

import getpass
import socket
from pathlib import Path

from harness.base import provenance
from harness.engines.mlx.blas import blas_threads
from harness.engines.spec import RemoteSpec


def test_nothing_names_the_user_the_host_or_a_home() -> None:
    home = str(Path.home())
    argv = [f"{home}/bin/k3", "eval", "--out", f"{home}/x.json"]
    assert provenance.anonymous_argv(argv) == ("k3", "eval", "--out", "x.json")
    text = provenance.read_host().model_dump_json()
    for secret in (socket.gethostname(), getpass.getuser() if getpass.getuser() != "root" else "\0"):
        assert secret not in text


def test_the_threads_of_the_blas_are_recorded() -> None:
    assert provenance.read_provenance([], "cpu", "BLAS", blas_threads()).blas_threads == blas_threads()


def test_the_code_that_runs_is_identified() -> None:
    source = provenance.read_source()
    assert source.git_commit is not None or source.files is not None


def test_the_folder_of_a_report_is_not_told() -> None:
    assert provenance.anonymous_argv(["k3", "niah", "--out=/data/someone/r.json"])[2] == "--out=r.json"
    assert provenance.anonymous_argv(["k3", "niah", "--set", "model=/m/x", "--out", "/d/r.json"])[3:] == (
        "model=/m/x",
        "--out",
        "r.json",
    )


def test_where_a_token_or_a_key_lies_is_not_told() -> None:
    argv = ["k3", "smoke", "--token-file", "/run/secrets/ann/k3.token", "--tls-ca=/run/ann/ca.pem"]
    argv += ["--tls-key", "/run/ann/me.key", "--tls-certificate", "/run/ann/me.crt"]
    assert provenance.anonymous_argv(argv)[2:] == (
        "--token-file", "k3.token", "--tls-ca=ca.pem", "--tls-key", "me.key", "--tls-certificate", "me.crt",
    )  # fmt: skip
    for name in RemoteSpec.model_fields.keys() - {"address", "timeout_s"}:
        setting = f'arms.there.remote.{name}="/run/ann/file"'
        assert provenance.anonymous_setting(setting) == f"arms.there.remote.{name}=file"
        assert provenance.anonymous_argv(["k3", "eval", "--set", setting])[3] == f"arms.there.remote.{name}=file"
