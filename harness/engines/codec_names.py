"""Names of codecs, read without loading them: `affine4`, `affine4-g32`, `e8-4`, `hadamard-affine4`.

A kind is a file in `harness/engines/mlx/codecs`. Its name is followed by bits a code and `-g` with the values that
share a scale; a kind that wraps another is followed by the whole name of that one.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.base.errors import UsageError
from reports.untrusted.nearest import nearest

DEFAULT_GROUP = 64
_SETTINGS = re.compile(r"(?:-?(?P<bits>\d{1,2}))?(?:-g(?P<group>\d{1,4}))?")


@dataclass(frozen=True)
class CodecName:
    """A name taken apart. `bits` is None where the kind has none; `inner` is what a wrapping kind wraps."""

    kind: str
    bits: int | None = None
    group: int = DEFAULT_GROUP
    inner: "CodecName | None" = None


@cache
def codec_kinds() -> tuple[str, ...]:
    """The kinds there are: one a file, sorted."""
    folder = Path(__file__).parent / "mlx" / "kv_quant" / "codecs"
    return tuple(sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_")))


def parse_codec(name: str) -> CodecName:
    """Take a codec's name apart.

    Raises:
        UsageError: it begins with no kind there is, or is not of the form above.
    """
    kinds = [kind for kind in codec_kinds() if name.startswith(kind)]
    if not kinds:
        close = nearest(name, codec_kinds())
        hint = f"; did you mean {close!r}?" if close else ""
        raise UsageError(f"codec {name!r}: begins with none of {', '.join(codec_kinds())}{hint}")
    kind = max(kinds, key=len)
    rest = name[len(kind) :]
    if rest.startswith("-") and any(rest[1:].startswith(other) for other in codec_kinds()):
        return CodecName(kind, inner=parse_codec(rest[1:]))
    settings = _SETTINGS.fullmatch(rest)
    if settings is None:
        raise UsageError(f"codec {name!r}: after {kind} comes [bits][-gGROUP], as in affine4-g32, or a codec to wrap")
    bits, group = settings["bits"], settings["group"]
    return CodecName(kind, int(bits) if bits else None, int(group) if group else DEFAULT_GROUP)
