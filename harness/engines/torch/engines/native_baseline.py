"""The native baseline: the verifier alone, in a loop that is no oracle's. No restoration, no drafting."""

from typing import ClassVar

from harness.engines.torch.engines.ar import ArEngine
from reports.engines import NATIVE_BASELINE, EngineKind


class NativeBaselineEngine(ArEngine):
    """What an arm labelled `native_ar_baseline` runs: on PyTorch the oracle's loop is K3's own already."""

    kind: ClassVar[EngineKind] = NATIVE_BASELINE
