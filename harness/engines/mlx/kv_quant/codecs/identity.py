"""Nothing is lost: the control that shows what the harness itself does."""

import mlx.core as mx

from harness.base.errors import UsageError
from harness.engines.mlx.kv_quant.codec import Encoded


class Identity:
    """Stores the numbers as they are, in their own type."""

    scales = "none"

    def encode(self, x: mx.array) -> Encoded:
        """The input itself."""
        return Encoded({"values": x})

    def decode(self, encoded: Encoded) -> mx.array:
        """The input, in float32 (which holds every float16 and bfloat16 exactly)."""
        return encoded.arrays["values"].astype(mx.float32)

    def entropy_bits(self, encoded: Encoded) -> float:
        """As stored: there are no codes."""
        return 8.0 * encoded.nbytes


def make(bits: int | None, group: int) -> Identity:
    """Raises: UsageError: bits are given."""
    if bits is not None:
        raise UsageError("codec identity: has no bits; it stores K/V unchanged")
    return Identity()
