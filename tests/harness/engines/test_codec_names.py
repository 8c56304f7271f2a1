"""Names of codecs, taken apart without loading one."""

import pytest

from harness.base.errors import UsageError
from harness.engines.codec_names import CodecName, parse_codec


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("identity", CodecName("identity")),
        ("affine4", CodecName("affine", 4)),
        ("affine-4", CodecName("affine", 4)),
        ("affine8-g32", CodecName("affine", 8, 32)),
        ("e8-4", CodecName("e8", 4)),
        ("d4-6-g128", CodecName("d4", 6, 128)),
        ("hadamard-affine3-g32", CodecName("hadamard", inner=CodecName("affine", 3, 32))),
        ("hadamard-e8-2", CodecName("hadamard", inner=CodecName("e8", 2))),
    ],
)
def test_a_name_is_kind_bits_and_group(name: str, parsed: CodecName) -> None:
    assert parse_codec(name) == parsed


@pytest.mark.parametrize("name", ["", "afine4", "affine4g32", "affine4-", "e8-four", "hadamard-", "affine4-g32-g64"])
def test_anything_else_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_codec(name)
    assert "\n" not in str(caught.value)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean 'affine'"):
        parse_codec("afine")
