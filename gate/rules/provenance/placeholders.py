"""Values that stand where something was forgotten."""

import hashlib

DIGESTS_OF_NOTHING = frozenset({f"sha256:{'0' * 64}", f"sha256:{hashlib.sha256().hexdigest()}"})
"""What stands where a digest was forgotten: of no bytes at all, or zeros."""


def is_given(value: object) -> bool:
    """It is there, and not blank."""
    return bool(value.strip()) if isinstance(value, str) else bool(value)
