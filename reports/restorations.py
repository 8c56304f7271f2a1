"""The modes of restoration: what becomes of K/V outside sink + window."""

from dataclasses import dataclass
from typing import Literal

RestorationMode = Literal["none", "identity", "ablate", "f_theta"]


@dataclass(frozen=True)
class RestorationKind:
    """What a mode does. `lossless`: the verifier's own stream must come out. `learned`: by maps that have weights."""

    mode: RestorationMode
    evicts: bool = True
    restores: bool = True
    lossless: bool = False
    learned: bool = False


RESTORATIONS: dict[RestorationMode, RestorationKind] = {
    kind.mode: kind
    for kind in (
        RestorationKind("none", evicts=False, restores=False, lossless=True),
        RestorationKind("identity", lossless=True),
        RestorationKind("ablate", restores=False),
        RestorationKind("f_theta", learned=True),
    )
}
"""`none` keeps everything; `identity` puts back the verifier's own K/V, `f_theta` a projection; `ablate` nothing."""
