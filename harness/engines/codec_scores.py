"""Rows of a codec run from tokens and numbers: scored, and compared with the oracle's. No tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.records.codec_rows import CodecSample, LayerError, OracleSample, SecondQuestion, weighted_errors
from reports.records.measurement import StopReason
from reports.scoring.answers import score


@dataclass(frozen=True)
class StreamLimit:
    """How streams end: after `new_tokens`, or at one of `stops`. Where decoding is timed, `timed_tokens` are made,
    stops or not. `chunk` is the prefill chunk."""

    new_tokens: int
    timed_tokens: int
    stops: Mapping[int, StopReason]
    chunk: int

    def ended(self, stream: Sequence[int]) -> bool:
        """Nothing after this counts."""
        return len(stream) >= self.new_tokens or any(token in self.stops for token in stream)

    def cut(self, stream: Sequence[int]) -> tuple[int, ...]:
        """The stream to its end, a stop token included."""
        stop = next((index + 1 for index, token in enumerate(stream) if token in self.stops), len(stream))
        return tuple(stream[: min(stop, self.new_tokens)])


@dataclass(frozen=True)
class Answers:
    """Turns streams into scored answers; `decode` gives the text of tokens. `wanted` is the answer of each sample."""

    decode: Callable[[Sequence[int]], str]
    limit: StreamLimit
    wanted: Mapping[int, str]

    def text(self, tokens: tuple[int, ...]) -> str:
        """What the stream says; it was cut at its end, so only a stop token is left out."""
        return self.decode([token for token in tokens if token not in self.limit.stops])

    def correct(self, sample: int, tokens: tuple[int, ...]) -> bool:
        """It holds the sample's answer."""
        return score(self.text(tokens), self.wanted[sample])

    def stop_reason(self, tokens: tuple[int, ...]) -> StopReason:
        """Why it ended."""
        return self.limit.stops.get(tokens[-1], "length")

    def second(
        self,
        sample: int,
        tokens: tuple[int, ...],
        oracle: SecondQuestion | None = None,
        file_bytes: int | None = None,
    ) -> SecondQuestion:
        """The answer to the second question; beside the oracle's, unless it is the oracle's."""
        return SecondQuestion(
            text=self.text(tokens),
            correct=self.correct(sample, tokens),
            token_ids=tokens,
            token_ids_equal_oracle=tokens == oracle.token_ids if oracle is not None else None,
            file_bytes=file_bytes,
        )

    def row(
        self,
        oracle: OracleSample,
        tokens: tuple[int, ...],
        second: SecondQuestion,
        *,
        errors: tuple[LayerError, ...],
        **figures: Any,
    ) -> CodecSample:
        """One arm on one sample; `figures` are the fields that need no working out."""
        weighted = weighted_errors(errors, oracle.energies)
        assert weighted is not None
        return CodecSample(
            sample=oracle.sample,
            text=self.text(tokens),
            correct=self.correct(oracle.sample, tokens),
            token_ids=tokens,
            token_ids_equal_oracle=tokens == oracle.token_ids,
            relative_error_k=weighted[0],
            relative_error_v=weighted[1],
            layers=errors,
            second=second,
            **figures,
        )
