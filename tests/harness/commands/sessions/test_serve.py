import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import run
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.engines.remote.credentials import Credentials
from harness.engines.remote.records import RefusedError

ROOT = Path(__file__).resolve().parents[4]


def test_serve_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a token of some length")
    token.chmod(0o600)
    command = [sys.executable, "-m", "harness.cli", "serve", "--engine", "fused", "--drafter", "ngram", "--json"]
    command += ["--restoration", "identity", "--address", "127.0.0.1:0", "--token-file", str(token)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        client = SessionClient(told["address"], Credentials(token="a token of some length"))
        name = client.create("")
        client.append(name, list(range(5, 100)))
        frames = list(client.generate(name, 5))
        assert sum(len(frame.tokens) for frame in frames if isinstance(frame, Block)) == 5
        restoration = client.describe().restoration
        assert restoration is not None
        assert restoration.mode == "identity"
        stranger = SessionClient(told["address"])
        with pytest.raises(RefusedError, match="token"):
            stranger.describe()
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 130
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()
        client.close()
        stranger.close()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--engine", "fused"], "--drafter: engine fused needs a drafter"),
        (["--engine", "ar", "--restoration", "identity"], "--restoration: engine ar restores nothing"),
        (
            ["--engine", "mlx-lm-speculative", "--drafter", "ngram"],
            "--engine mlx-lm-speculative: its sessions take one",
        ),
        (["--engine", "http"], "--engine http: its sessions take one prompt"),
        (["--window", "0"], "--window 0: "),
        (["--engine", "fused", "--drafter", "ngram", "--block-size", "0"], "--block-size 0: "),
        (["--engine", "fused", "--drafter", "dflash", "--drafter-model", ""], "--drafter-model"),
        (["--restoration", "f_theta"], "--f-theta"),
        (["--address", "0.0.0.0:50051"], "--token-file"),
        (["--tls-key", "key.pem"], "--tls-key and --tls-certificate come together"),
        (["--tls-client-ca", "ca.pem"], "--tls-client-ca needs --tls-key"),
        (["--drafter", "dflash", "--engine", "fused"], "--drafter-model"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_is_loaded(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--model", "no-such-model", *options]) == 64
    assert told in capsys.readouterr().err


def test_a_token_that_others_may_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = tmp_path / "token"
    token.write_text("a token of some length")
    token.chmod(0o640)
    assert run(["serve", "--token-file", str(token)]) == 3
    assert "chmod 600" in capsys.readouterr().err
