"""The base of every record in a report, and the units its numbers carry."""

import hashlib
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(description="Seconds; the gate, not the type, judges sign and sum")]
Bytes = Annotated[int, Field(ge=0, le=2**53, description="Bytes, summed from arrays or computed by formula")]
Count = Annotated[int, Field(ge=0, le=2**53)]
TokenId = Annotated[int, Field(ge=0, le=2**31)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="sha256:<64 hex digits>")]
Name = Annotated[str, Field(min_length=1, max_length=200)]


def digest_of(data: bytes) -> str:
    """The `Digest` of these bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Record(BaseModel):
    """A value that cannot lie about its shape.

    Frozen, strict (a boolean is no number, a string no version), without extra fields, NaN or infinity. A field
    that is `None` is one that was not recorded; rules treat it as unknown, never as zero.
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        str_max_length=4_000_000,
        ser_json_inf_nan="strings",
        defer_build=True,  # most commands need few records: what validates one is made when the first is validated
    )

    def replace(self, **changes: Any) -> Self:
        """Return a copy with `changes`, validated again (`model_copy` would not).

        Raises:
            pydantic.ValidationError: a changed value does not fit its field.
        """
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate(values | changes)
