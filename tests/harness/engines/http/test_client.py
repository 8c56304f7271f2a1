"""Servers that lie, drip, flood or fail: each ends in one line that names the address, and in no more memory."""

import gzip
import itertools
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import pytest

from harness.base.errors import EngineError
from harness.engines.http.client import READ_S, Completion
from harness.engines.spec import HttpSpec
from tests.harness.engines.http.hostile import answering, event

DONE = b"data: [DONE]\n\n"


def said(address: str, **settings: object) -> list[str]:
    spec = HttpSpec.model_validate({"address": address, "model": "m"} | settings)
    return [piece.text for piece in Completion(spec, "a prompt", 4)]


def drip() -> Iterator[bytes]:
    for _ in range(200):
        time.sleep(0.02)
        yield b": still there\n\n"


def test_headers_that_drip_end_with_the_time_of_the_whole() -> None:
    """Each byte comes in time; all of them never would."""
    with dripping(b"HTTP/1.1 200 OK\r\nX-Slow: ") as address:
        began = time.monotonic()
        with pytest.raises(EngineError, match=r"not done after 0\.4 s \(http\.timeout_s\)"):
            said(address, timeout_s=0.4)
    assert time.monotonic() - began < READ_S / 2


@contextmanager
def dripping(start: bytes) -> Iterator[str]:
    """A server that sends `start`, and then a byte now and again for ever."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip_on() -> None:
            there, _ = listening.accept()
            with there, suppress(OSError):
                there.sendall(start)
                while not ended.wait(0.05):
                    there.sendall(b"x")

        thread = threading.Thread(target=drip_on)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        ended.set()
        thread.join()


def test_a_stream_is_read_to_its_end() -> None:
    with answering([b": a comment\n\n", event("la"), event(" le"), DONE]) as address:
        assert said(address) == ["la", " le"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (itertools.repeat(event("la")), "sends more than such a stream can have"),
        (itertools.repeat(b"x" * 65536), "a line of over 256 kB"),
        ([b"data: {nonsense\n\n", DONE], "an event is no JSON"),
        ([b"data: " + b"[" * 50000 + b"\n\n", DONE], "an event is no JSON"),
        ([b'data: {"error": "out of\\nmemory"}\n\n', DONE], "out of"),
        ([event("la", model="another"), DONE], "answers as model 'another'; 'm' was asked for"),
        ([b'data: {"model": "m", "choices": [{"text": 7}]}\n\n', DONE], "an event whose text is none"),
        ([event("la")], "broke off before its end"),
        ([], "broke off before its end"),
    ],
)
def test_what_is_no_stream_of_completions_ends_in_a_line(body: Iterable[bytes], problem: str) -> None:
    with answering(body) as address, pytest.raises(EngineError) as raised:
        said(address)
    assert problem in str(raised.value)
    assert str(raised.value).startswith(f"http.address {address}: ")
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400


def test_a_slow_drip_ends_with_its_time() -> None:
    with answering(drip()) as address, pytest.raises(EngineError, match=r"not done after 0\.3 s \(http\.timeout_s\)"):
        said(address, timeout_s=0.3)


def test_a_server_that_says_nothing_ends_with_its_time() -> None:
    def silent() -> Iterator[bytes]:
        time.sleep(1)
        yield DONE

    with answering(silent()) as address, pytest.raises(EngineError, match=r"not done after 0\.2 s"):
        said(address, timeout_s=0.2)


def test_an_error_of_the_server_is_told_with_what_it_says() -> None:
    with answering([b"out of memory\n\x1b[31m" * 1000], status=500) as address, pytest.raises(EngineError) as raised:
        said(address)
    assert "answers 500: out of memory" in str(raised.value)
    assert str(raised.value).isprintable()


def test_a_redirection_is_not_followed() -> None:
    with answering([event("mine"), DONE]) as elsewhere:
        there = answering([], status=307, Location=f"{elsewhere}/v1/completions")
        with there as address, pytest.raises(EngineError, match="answers 307"):
            said(address)


def test_a_packed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 2**24)
    with answering([bomb], Content_Encoding="gzip") as address, pytest.raises(EngineError, match="sends gzip"):
        said(address)


def test_nobody_there_is_a_line() -> None:
    with answering([]) as address:
        pass
    with pytest.raises(EngineError, match=f"http.address {address}: ConnectError"):
        said(address)


def test_the_key_comes_from_the_environment_and_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering([b"wrong key: sekret-123"], status=401) as address:
        with pytest.raises(EngineError, match="variable THEIR_KEY holds no key; set it"):
            said(address, key_env="THEIR_KEY")
        monkeypatch.setenv("THEIR_KEY", "sekret-123")
        with pytest.raises(EngineError, match=r"answers 401: wrong key: \*\*\*"):
            said(address, key_env="THEIR_KEY")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"address": "http://example.org:8080"}, "another machine without TLS"),
        ({"address": "https://me:secret@example.org"}, "an address with a name or a key in it"),
        ({"address": "ftp://127.0.0.1"}, "is no address like"),
        ({"address": "http://127.0.0.1:8080/?key=7"}, "is no address like"),
        ({"key_env": "sk-not-a-name"}, "key_env"),
    ],
)
def test_addresses_that_would_tell_a_secret_are_refused(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        HttpSpec.model_validate({"address": "http://127.0.0.1:8080", "model": "m"} | changes)


def test_another_machine_is_asked_over_tls_or_where_it_is_allowed() -> None:
    assert HttpSpec(address="https://example.org", model="m")
    assert HttpSpec(address="http://example.org", model="m", allow_http=True)
    assert HttpSpec(address="http://[::1]:80", model="m")
