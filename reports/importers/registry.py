"""Every importer, in the order in which a file is offered to them. No two recognise the same file."""

from reports.importers import dflash_mlx, llama_bench, lm_eval, mlperf, mlx_lm_benchmark, spec_bench
from reports.importers.base import Importer, Source
from reports.importers.k3_mac import (
    drafter_ports,
    fused_chat,
    grpc_smokes,
    needle_test,
    platform_tests,
    quantised_cache,
    verify_sweep,
)
from reports.importers.k3_mac.cuda import cuda_needle_test, gpu_bench, multi_tenant
from reports.importers.k3_mac.vllm import batches, needle_sessions
from reports.importers.serving import guidellm, llama_benchy, sglang, vllm

IMPORTERS: tuple[Importer, ...] = (
    needle_test.IMPORTER,
    drafter_ports.IMPORTER,
    quantised_cache.IMPORTER,
    fused_chat.IMPORTER,
    gpu_bench.IMPORTER,
    grpc_smokes.IMPORTER,
    platform_tests.IMPORTER,
    cuda_needle_test.IMPORTER,
    multi_tenant.IMPORTER,
    verify_sweep.IMPORTER,
    batches.IMPORTER,
    needle_sessions.IMPORTER,
    dflash_mlx.IMPORTER,
    llama_bench.IMPORTER,
    spec_bench.IMPORTER,
    mlx_lm_benchmark.IMPORTER,
    lm_eval.IMPORTER,
    mlperf.IMPORTER,
    vllm.IMPORTER,
    sglang.IMPORTER,
    guidellm.IMPORTER,
    llama_benchy.IMPORTER,
)
IMPORTER_NAMES = frozenset(importer.name for importer in IMPORTERS)
FOREIGN_KINDS = (
    needle_test.KIND,
    drafter_ports.KIND,
    quantised_cache.KIND,
    fused_chat.KIND,
    gpu_bench.KIND,
    *grpc_smokes.KINDS,
    cuda_needle_test.KIND,
    multi_tenant.KIND,
    verify_sweep.KIND,
    batches.KIND,
    needle_sessions.KIND,
)


def importer_of(source: Source) -> Importer | None:
    """The importer that recognises `source`."""
    return next((importer for importer in IMPORTERS if importer.recognises(source)), None)
