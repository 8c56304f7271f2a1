"""One streamed completion of an OpenAI-compatible server, which may be hostile: bounded in time, bytes and lines."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import httpx

from harness.base.clock import now
from harness.base.errors import EngineError
from harness.engines.spec import HttpSpec, is_loopback
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import Json, StrictJsonError, parse

LONGEST_LINE = 256 * 2**10
BYTES_A_TOKEN, LEAST_BYTES = 4 * 2**10, 2**20
"""Of a whole stream: servers send some 300 bytes an event, and one event a token."""
READ_S, CONNECT_S = 60.0, 10.0
DONE = "[DONE]"


@dataclass(frozen=True)
class Piece:
    """What one event says: text, the tokens it stands for where the server tells, why the stream ended, and counts."""

    text: str
    tokens: tuple[int, ...] | None
    finish: str | None
    prompt_tokens: int | None
    completion_tokens: int | None


class Completion:
    """A request under way; iterated once. Closing it ends the connection, and so the server's work."""

    def __init__(self, spec: HttpSpec, prompt: str | list[int], max_tokens: int) -> None:
        """Send the request and wait for the headers.

        Raises:
            EngineError: the server is not there, refuses, or wants a key that is not set.
        """
        self._spec, self._stack, self._key = spec, ExitStack(), _key(spec)
        self._deadline, self._room = now() + spec.timeout_s, LEAST_BYTES + max_tokens * BYTES_A_TOKEN
        self._wire: socket.socket | None = None
        ending = threading.Timer(spec.timeout_s, self._hang_up)
        ending.daemon = True
        ending.start()
        self._stack.callback(ending.cancel)
        body = {
            "model": spec.model,
            "prompt": prompt,
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_token_ids": True,
        }
        with self._told():
            url = httpx.URL(spec.address.rstrip("/") + "/v1/completions")
            client = self._stack.enter_context(
                httpx.Client(
                    timeout=httpx.Timeout(READ_S, connect=min(CONNECT_S, spec.timeout_s)),
                    trust_env=not is_loopback(url.host),
                )
            )
            headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
            asked = client.stream("POST", url, json=body, headers=headers, extensions={"trace": self._note_wire})
            self._response = self._stack.enter_context(asked)
            encoding = self._response.headers.get("Content-Encoding", "identity")
            if encoding != "identity":
                raise self.error(f"sends {one_line(encoding, 40)}, which was not asked for and is not unpacked")
            if self._response.status_code != 200:
                said = b"".join(self._bounded())[:400].decode("utf-8", "replace")
                raise self.error(f"answers {self._response.status_code}: {one_line(said, 200)}")

    def __iter__(self) -> Iterator[Piece]:
        """Pieces as they come, to the end of the stream.

        Raises:
            EngineError: it breaks off, is no stream of completions, is of another model, or exceeds its bounds.
        """
        with self._told():
            for line in self._lines():
                if not line.startswith(b"data:"):
                    continue  # comments keep the connection alive
                data = line.removeprefix(b"data:").strip()
                if data == DONE.encode():
                    return
                yield self._piece(data)
        raise self.overdue() if self.late else self.error("the stream broke off before its end")

    def close(self) -> None:
        """End the connection."""
        self._stack.close()

    def error(self, problem: str) -> EngineError:
        """`problem` with the address before it, and without the key, should the server repeat it."""
        said = problem.replace(self._key, "***") if self._key else problem
        return EngineError(f"http.address {self._spec.address}: {said}")

    def _piece(self, data: bytes) -> Piece:
        try:
            event = parse(data).value
        except StrictJsonError as error:
            raise self.error(f"an event is no JSON: {one_line(str(error), 120)}") from error
        if not isinstance(event, dict) or "error" in event:
            raise self.error(f"says {one_line(str(event), 200)}")
        model = event.get("model")
        if model != self._spec.model:
            raise self.error(f"answers as model {one_line(str(model), 80)!r}; {self._spec.model!r} was asked for")
        usage = event.get("usage")
        told = usage if isinstance(usage, dict) else {}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        text, finish = choice.get("text") or "", choice.get("finish_reason")
        if not isinstance(text, str) or not (finish is None or isinstance(finish, str)):
            raise self.error("an event whose text is none")
        counts = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
        return Piece(text, _ids(choice.get("token_ids")), finish, *counts)

    def _lines(self) -> Iterator[bytes]:
        held = b""
        for chunk in self._bounded():
            *whole, held = (held + chunk).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
            if len(held) > LONGEST_LINE:
                raise self.error(f"a line of over {LONGEST_LINE >> 10} kB")

    def _bounded(self) -> Iterator[bytes]:
        for chunk in self._response.iter_raw():
            self._room -= len(chunk)
            if self._room < 0:
                raise self.error("sends more than such a stream can have")
            if self.late:
                raise self.overdue()
            yield chunk

    @property
    def late(self) -> bool:
        """The time for the whole stream is over."""
        return now() >= self._deadline

    def overdue(self) -> EngineError:
        """The error of a stream that took longer than it may."""
        return self.error(f"is not done after {self._spec.timeout_s:g} s (http.timeout_s)")

    def _note_wire(self, name: str, info: dict[str, Any]) -> None:
        """Keep a handle of the connection once it is there, so that its end does not wait for what is read."""
        if name == "connection.connect_tcp.complete":
            self._wire = info["return_value"].get_extra_info("socket").dup()
            self._stack.callback(self._wire.close)
            if self.late:  # the time was over before there was anything to hang up
                self._hang_up()

    def _hang_up(self) -> None:
        """End the connection under whoever reads: each byte of a drip is in time, all of them together are not."""
        with suppress(OSError):
            if self._wire is not None:
                self._wire.shutdown(socket.SHUT_RDWR)

    def _told(self) -> "_Told":
        return _Told(self)


class _Told:
    """What httpx raises, as an error with the address; a connection that failed is closed."""

    def __init__(self, completion: Completion) -> None:
        self._completion = completion

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, GeneratorExit):
            return
        self._completion.close()
        if isinstance(error, httpx.HTTPError) and self._completion.late:
            raise self._completion.overdue() from error
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            raise self._completion.error(one_line(f"{type(error).__name__}: {error}", 200)) from error


def _key(spec: HttpSpec) -> str:
    """The key that the environment holds, empty if none is asked for; it stands in no message and no report.

    Raises:
        EngineError: the variable is not set.
    """
    if spec.key_env is None:
        return ""
    key = os.environ.get(spec.key_env, "")
    if not key or not key.isascii() or not key.isprintable():
        raise EngineError(f"http.key_env: the environment variable {spec.key_env} holds no key; set it")
    return key


def _count(told: Json) -> int | None:
    return told if type(told) is int and 0 <= told < 2**53 else None


def _ids(told: Json) -> tuple[int, ...] | None:
    ids: Any = told
    fits = isinstance(ids, list) and all(type(one) is int and 0 <= one < 2**31 for one in ids)
    return tuple(ids) if fits else None
