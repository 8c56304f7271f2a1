"""The losslessness matrix on PyTorch."""

from harness.checks.lossless_run import MatrixBackend
from harness.checks.torch.fork import copy_kv
from harness.checks.torch.stream_audit import audit
from harness.engines.torch.engines.fused import FusedEngine
from harness.engines.torch.engines.fused_carry import FusedCarryEngine

MATRIX = MatrixBackend({engine.kind.name: engine for engine in (FusedEngine, FusedCarryEngine)}, copy_kv, audit)
