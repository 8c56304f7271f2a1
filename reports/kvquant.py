"""KV quantisation: one arm a codec, over the same captured K/V."""

from pydantic import Field

from reports.record import Bytes, Count, Name, Record


class CodecSample(Record):
    """One codec on one prompt."""

    sample: Count
    correct: bool | None = None
    token_ids_equal_oracle: bool | None = None
    text: str | None = None
    relative_error_k: float | None = Field(None, description="Energy-weighted, after RoPE")
    relative_error_v: float | None = None
    relative_error: float | None = Field(None, description="K and V together, where a tool gives only that")
    stored_bytes: Bytes | None = Field(None, description="Codes, scales, biases and padding, from the arrays")
    values: Count | None = Field(None, description="K/V numbers represented")


class CodecArm(Record):
    """A codec. `stated_bits` is what the tool prints; the gate divides stored bytes by values."""

    name: Name
    codec: Name
    samples: tuple[CodecSample, ...]
    stated_recall: float | None = None
    stated_bits: float | None = None
    stated_relative_error: float | None = Field(None, description="Mean over the samples, as printed")


class StatedCodecVerdict(Record):
    """The printed verdict on a codec: worth a native kernel or not."""

    arm: Name
    worthwhile: bool


class KvQuantResult(Record):
    """All codecs of a run, and the verdicts printed from them."""

    oracle_recall: float | None = None
    arms: tuple[CodecArm, ...]
    verdicts: tuple[StatedCodecVerdict, ...] = ()
