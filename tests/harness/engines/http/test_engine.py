"""mlx-lm's own server as a peer: its stream is the oracle's, though it sends text alone."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.judging.judge import conclude
from harness.base.errors import EngineError, UsageError
from harness.engines.base import DecodeLimit
from harness.engines.http.engine import HttpEngine
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, HttpSpec
from harness.models.resolve import locate
from harness.plans.kinds import plan_of
from harness.plans.preset_file import preset_of_flags
from harness.runs.timed_run import run_preset
from tests.harness.engines.http.hostile import answering, event
from tests.harness.remote.served import models

PROMPTS = ("The", "A table of", "# count the", "for label in")
MOST = 8
DONE = b"data: [DONE]\n\n"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """mlx-lm's server on a free port, serving k3-tiny."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--model", str(locate("k3-tiny").folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-m", "mlx_lm", "server", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            while server.poll() is None and not _listens(port):
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def engine(address: str, most: int = MOST, model: str = "default_model") -> HttpEngine:
    spec = HttpSpec(address=address, model=model)
    built = build("http", models().verifier, EngineSettings(http=spec, max_new_tokens=most))
    assert isinstance(built, HttpEngine)
    return built


def stream(built: HttpEngine, prompt: list[int]) -> list[int]:
    session = built.prefill(prompt)
    rest = [token for block in built.decode(session, DecodeLimit(MOST, {})) for token in block.tokens]
    return [session.first_token, *rest]


def wanted(tokens: list[int]) -> list[int]:
    oracle = build("ar", models().verifier, EngineSettings())
    session = oracle.prefill(tokens)
    blocks = oracle.decode(session, DecodeLimit(MOST, {}))
    return [session.first_token, *(token for block in blocks for token in block.tokens)]


def asked(prompt: str) -> list[int]:
    return models().text.encode(f"{models().text.bos}{prompt}")


def test_what_its_server_says_is_read_as_the_oracles_stream(address: str) -> None:
    peer, truth = engine(address), {prompt: wanted(asked(prompt)) for prompt in PROMPTS}
    assert peer.served_by.token_ids == "read_back"
    for prompt, tokens in truth.items():
        assert stream(peer, asked(prompt)) == tokens, prompt
    firsts = [models().text.decode(tokens[:1]) for tokens in truth.values()]
    assert {first[0] == " " for first in firsts} == {True, False}, "the space that the server leaves out is of interest"


def test_a_first_token_that_is_but_a_space_is_lost_with_the_text(address: str) -> None:
    truth = wanted(asked("import"))
    assert models().text.decode(truth[:1]) == " "
    assert stream(engine(address), asked("import")) == truth[1:], "the gate then says that the reading may depart"


def test_a_peer_is_measured_and_judged(address: str, tmp_path: Path) -> None:
    arm = {"name": "server", "role": "peer", "engine": "http", "label": "mlx_lm.server"}
    arm["http"] = {"address": address, "model": "default_model"}  # type: ignore[assignment]
    document = {"name": "http", "title": "Http", "kind": "code", "model": "k3-tiny", "samples": 2, "processes": 1}
    document |= {"max_new_tokens": 8, "workload": {"items": 8}, "arms": [arm]}
    report = run_preset(plan_of(preset_of_flags(document)), tmp_path / "r.json", silent)
    (measured,) = (one for one in report.arms if one.name == "server")
    assert measured.served_by is not None
    assert (measured.timing_scope, measured.served_by.token_ids) == ("client_stream", "read_back")
    assert all(row.kv_bytes_decode is None and row.peak_bytes is None for row in measured.measurements)
    assert [row.served_tokens for row in measured.measurements] == [
        len(row.token_ids or ()) for row in measured.measurements
    ]
    judged = conclude(report)
    identity = next(claim for claim in judged.claims if claim.name == "token_identity/server")
    assert identity.value == 1.0
    assert not {"STREAM_READ_BACK", "STREAM_DIVERGENCE"} & set(identity.withheld_by)


def told(text: str, *ids: int) -> bytes:
    return event(text, token_ids=list(ids))


def test_ids_that_the_server_tells_are_taken_as_they_are() -> None:
    with answering([told("label", 697), told("s", 7), DONE]) as address:
        built = engine(address, model="m")
        assert built.served_by.token_ids == "told"
        assert stream(built, [3, 4, 5]) == [697, 7]


@pytest.mark.parametrize(("asked_for", "kept"), [(MOST, 3), (2, None)], ids=["the whole stream", "a part of it"])
def test_the_servers_own_count_is_kept_of_a_whole_stream(asked_for: int, kept: int | None) -> None:
    said = [json.loads(told("", token).removeprefix(b"data: ")) for token in (7, 8, 9)]
    counted = [one | {"usage": {"completion_tokens": place}} for place, one in enumerate(said, start=1)]
    with answering([*(b"data: %s\n\n" % json.dumps(one).encode() for one in counted), DONE]) as address:
        built = engine(address, model="m")
        session = built.prefill([3, 4, 5])
        assert built.stats(session).served_tokens == 1
        assert len(list(built.decode(session, DecodeLimit(asked_for, {})))) == min(2, asked_for - 1)
        assert built.stats(session).served_tokens == kept


def test_a_server_that_reads_another_prompt_is_told_so() -> None:
    usage = b'data: {"model": "m", "choices": [], "usage": {"prompt_tokens": 99}}\n\n'
    with (
        answering([told("la", 3), usage, DONE]) as address,
        pytest.raises(EngineError, match="read 99 tokens; the prompt"),
    ):
        engine(address, model="m")


def test_a_stream_without_a_token_is_none() -> None:
    with answering([event(""), DONE]) as address, pytest.raises(EngineError, match="a stream without a token"):
        engine(address, model="m").prefill(models().text.encode("The"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"http": None}, "needs a server and its model; set http.address and http.model"),
        ({"role": "sut"}, "its role is peer"),
        ({"engine": "ar"}, "http is of engine http alone"),
        ({"restoration": "ablate"}, "restores nothing"),
    ],
)
def test_an_arm_that_means_nothing_is_refused(changes: dict[str, object], problem: str) -> None:
    arm = {"name": "server", "role": "peer", "engine": "http", "label": "theirs"}
    arm |= {"http": {"address": "http://127.0.0.1:1", "model": "m"}} | changes  # type: ignore[dict-item]
    document = {"name": "http", "title": "Http", "kind": "code", "model": "k3-tiny", "arms": [arm]}
    with pytest.raises(UsageError, match=problem):
        plan_of(preset_of_flags(document))


def silent(done: int, total: int, what: str) -> None:
    pass
