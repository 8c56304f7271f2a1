import json
import signal
import threading
from pathlib import Path

import pytest

from harness.cli import run
from harness.engines.base import Block
from harness.engines.remote.client import SessionClient
from harness.engines.remote.credentials import Credentials
from harness.engines.remote.records import RefusedError
from tests.harness.remote.server_process import line_of, server_process

ANYWHERE = ("--address", "127.0.0.1:0", "--json")
PATIENCE_S = 30


def test_serve_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a token of some length")
    token.chmod(0o600)
    asked = ["--engine", "fused", "--drafter", "ngram", "--restoration", "identity", "--token-file", str(token)]
    with server_process("serve", *asked, *ANYWHERE) as server:
        told = json.loads(line_of(server))
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
        assert server.wait(PATIENCE_S) == 130
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()
        client.close()
        stranger.close()


def test_a_client_with_open_streams_does_not_keep_the_server() -> None:
    with server_process("serve", *ANYWHERE) as server:
        client = SessionClient(json.loads(line_of(server))["address"])
        name = client.create("", hold=True)
        client.append(name, list(range(5, 100)))
        stream = client.generate(name, 100_000)
        next(stream)
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 130
        with pytest.raises(RefusedError):
            list(stream)
        client.close()


STUCK = """
import sys, threading
from harness import cli
from harness.commands.sessions import serve
from harness.remote import server, service

def stuck(self):
    print("stuck", flush=True)
    threading.Event().wait()

server.GRACE_S = server.LEAVE_S = 0.1
serve.LONGEST_END_S = 1.0
service.SessionService.describe = stuck
sys.exit(cli.run(sys.argv[1:]))
"""


def test_a_call_that_hangs_does_not_keep_the_server() -> None:
    """The interpreter waits for its thread; the system does not."""
    with server_process("serve", *ANYWHERE, program=("-c", STUCK)) as server:
        client = SessionClient(json.loads(line_of(server))["address"])

        def ask() -> None:
            with pytest.raises(RefusedError):
                client.describe()

        asking = threading.Thread(target=ask)
        asking.start()
        assert line_of(server) == "stuck\n"
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == -signal.SIGALRM
        asking.join()
        client.close()


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
