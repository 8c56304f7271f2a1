"""The engine `http`: a completions endpoint of another project's server, as a peer beside the oracle.

Nothing of the server is seen: no cache, no drafts, no weights. Its clocks are the client's: prefill ends when the first
piece of text comes, decode when the stream ends. Where the server sends token ids (`return_token_ids`, as vLLM does),
they are taken; else they are read back from its text, event by event, and the arm says so. The verifier audits them.

Text does not tell every token. mlx-lm's server leaves out the space that a stream begins with, so its "label" stands
for two tokens. Of those two the one is taken that the verifier itself would choose, asked once the clocks have stopped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from harness.base.clock import now
from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Engine, LoadedVerifier, Session, SessionCounts
from harness.engines.http.client import Completion, Piece
from harness.engines.spec import HttpSpec
from reports.engines import HTTP, EngineKind
from reports.records.measurement import DrafterInfo, Restoration, ServedBy
from reports.records.provenance import ModelInfo

PROTOCOL = "openai.completions"


@dataclass
class HttpSession:
    """A stream that began: its first tokens have come. `spaced` is the other token that its first text may stand for,
    the one with a space before; `choice` is the verifier's own after the prompt; `told` is how many tokens the server
    says it generated, once it has said so."""

    stream: Iterator[Piece]
    first: tuple[int, ...]
    finish: str | None
    spaced: int | None
    choice: Callable[[], int]
    told: int | None = None

    @cached_property
    def first_token(self) -> int:
        """The first of them."""
        return self.spaced if self.spaced is not None and self.choice() == self.spaced else self.first[0]


class HttpEngine:
    """One server and one model of it. A prompt is sent as text, unless the server is to be given ids."""

    kind: ClassVar[EngineKind] = HTTP
    restoration: ClassVar[Restoration] = Restoration(mode="none")
    drafter: ClassVar[DrafterInfo | None] = None
    models: ClassVar[tuple[ModelInfo, ...]] = ()

    def __init__(self, verifier: LoadedVerifier, oracle: Engine, spec: HttpSpec, max_new_tokens: int) -> None:
        """Ask the server for a token, to see that it is there, serves the model, and whether it tells ids.

        `oracle` says what the verifier chooses where a text does not tell the token.

        Raises:
            EngineError: it is not there, serves another model, or sends what is no stream of completions.
        """
        self._tokenizer = verifier.tokenizer
        self._bos = _bos(verifier.tokenizer)
        self._oracle, self._spec, self._most = oracle, spec, max_new_tokens
        self._open: Completion | None = None
        first = list(self._ask(self._encode(f"{self._bos}The"), 1))
        told = any(piece.tokens for piece in first)
        self._words = None if told else _words(verifier.tokenizer)
        self.served_by = ServedBy(protocol=PROTOCOL, token_ids="told" if told else "read_back")

    def prefill(self, tokens: Sequence[int]) -> HttpSession:
        """Send the prompt; returns when the first piece of text or the first id has come.

        Raises:
            EngineError: the stream ends before.
        """
        stream = self._ask(tokens, self._most)
        for piece in stream:
            first, spaced = self._tokens(piece), self._spaced(piece)
            if first:
                if len(first) > 1 and spaced is not None:  # an event that is one token, if a space was left out
                    first, spaced = (spaced,), None
                return HttpSession(
                    stream,
                    first,
                    piece.finish,
                    spaced,
                    lambda: self._oracle.prefill(tokens).first_token,
                    piece.completion_tokens,
                )
        raise EngineError(f"http.address {self._spec.address}: a stream without a token")

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """The rest of the stream, a block an event and no more tokens than `limit`; the connection then ends.

        A server that says it stopped emitted the end of text, which is no part of its text.
        """
        own = _own(session)
        last, began = own.first[-1], now()
        room = limit.max_new_tokens - len(own.first)
        if len(own.first) > 1:
            yield Block(own.first[1:])
        finish = own.finish
        for piece in own.stream:
            finish = piece.finish or finish
            own.told = piece.completion_tokens if piece.completion_tokens is not None else own.told
            tokens = self._tokens(piece)[: max(room, 0)]
            if tokens:
                ended = now()
                yield Block(tokens, seconds=ended - began)
                room, last, began = room - len(tokens), tokens[-1], ended
            if room <= 0 and limit.max_new_tokens < self._most:
                own.told = None  # of a stream that is left before its end
                break  # a warm-up asks for fewer than the server was asked for
        end = next((token for token, reason in limit.stop_tokens.items() if reason == "eos"), None)
        if finish == "stop" and end is not None and room > 0 and last not in limit.stop_tokens:
            yield Block((end,), seconds=now() - began)
        if self._open is not None:
            self._open.close()

    def stats(self, session: Session) -> SessionCounts:
        """Nothing of a server's cache is seen from here, and what it says it generated is told as it is."""
        return SessionCounts(None, None, 0.0, 0.0, None, None, served_tokens=_own(session).told)

    def _ask(self, tokens: Sequence[int], most: int) -> Iterator[Piece]:
        if self._open is not None:
            self._open.close()
        prompt = list(tokens) if self._spec.prompt == "ids" else self._as_text(tokens)
        completion = self._open = Completion(self._spec, prompt, most)
        for piece in completion:
            if piece.prompt_tokens is not None and piece.prompt_tokens != len(tokens):
                raise completion.error(f"read {piece.prompt_tokens} tokens; the prompt has {len(tokens)}")
            yield piece

    def _as_text(self, tokens: Sequence[int]) -> str:
        """The text that the server's tokenizer turns into these tokens; what it adds itself is left out.

        Raises:
            EngineError: no text does.
        """
        text = str(self._tokenizer.decode(list(tokens), skip_special_tokens=False))
        if self._encode(text) != list(tokens):
            raise EngineError(
                "a prompt is not the same once it is text; set http.prompt to ids, if the server takes them"
            )
        return text.removeprefix(self._bos) if self._bos else text

    def _tokens(self, piece: Piece) -> tuple[int, ...]:
        """The tokens of an event: as told, the one whose text it is, or as the tokenizer reads its text."""
        if self._words is None:
            return piece.tokens or ()
        if not piece.text:
            return ()
        known = self._words.get(piece.text)
        return (known,) if known is not None else tuple(self._encode(piece.text))

    def _encode(self, text: str) -> list[int]:
        return [int(token) for token in self._tokenizer.encode(text, add_special_tokens=False)]

    def _spaced(self, piece: Piece) -> int | None:
        """The token that is the text of an event with a space before; none where ids are told."""
        return self._words.get(f" {piece.text}") if self._words is not None and piece.text else None


def _bos(tokenizer: Any) -> str:
    """What a server's tokenizer puts before a prompt by itself; empty if nothing."""
    bos = tokenizer.bos_token
    return str(bos) if bos and list(tokenizer.encode("x"))[:1] == [tokenizer.bos_token_id] else ""


def _words(tokenizer: Any) -> dict[str, int]:
    """Tokens by their text; those that share one are left out."""
    words: dict[str, int] = {}
    shared: set[str] = set()
    for token in sorted(tokenizer.get_vocab().values()):
        text = str(tokenizer.decode([token], skip_special_tokens=False))
        shared.update([text] if text in words else [])
        words[text] = token
    return {text: token for text, token in words.items() if text not in shared}


def _own(session: Session) -> HttpSession:
    if not isinstance(session, HttpSession):
        raise EngineError("http was given a session of another engine")
    return session
