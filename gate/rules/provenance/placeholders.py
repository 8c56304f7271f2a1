"""Values that stand where something was forgotten."""

DIGESTS_OF_NOTHING = frozenset(
    f"sha256:{digits}" for digits in ("0" * 64, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
)
"""What stands where a digest was forgotten: of no bytes at all, or zeros."""


def is_given(value: object) -> bool:
    """It is there, and not blank."""
    return bool(value.strip()) if isinstance(value, str) else bool(value)
