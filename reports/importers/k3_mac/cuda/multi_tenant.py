"""The predecessor's batched decoding on CUDA, kind `k3_cuda_multitenant_parallel`: rates of so many sequences at once.

Each entry is a batch size with one rate for the plain model and one for the restored one; there are no rows.
"""

from collections.abc import Iterator

from reports.importers.base import Foreign, Importer, Source, mark, models_of, of_kind, parse_foreign, report_id
from reports.importers.k3_mac.cuda.environment import Environment
from reports.records.measurement import Arm, Restoration, StatedRate
from reports.records.plan import PlanInfo, WorkloadInfo
from reports.records.record import Count
from reports.report import Report

KIND = "k3_cuda_multitenant_parallel"
NOTES = (
    "a rate is that of all sequences of a batch together, decode only; prompts are tiled where there are too few",
    "recall is stated as a share of the batch; which sample was right is not recorded",
    "not recorded: rows, texts, token ids, prefill, order, repeats, digests, K/V bytes, controls, an audit",
)


class Config(Foreign):
    """`config`."""

    verifier_id: str | None = None
    drafter_id: str | None = None
    gen_tokens: Count | None = None
    sink: Count | None = None
    window: Count | None = None
    exact_layers: list[Count] | None = None


class Batch(Foreign):
    """`results[]`."""

    agents: Count
    ar_aggregate_tps: float | None = None
    restored_aggregate_tps: float | None = None
    ar_recall: float | None = None
    restored_recall: float | None = None
    peak_gpu_gb: float | None = None


class TenantFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    env: Environment | None = None
    results: list[Batch]


def _load(source: Source) -> Report:
    file = parse_foreign(TenantFile, source.value)
    config, env = file.config, file.env or Environment()
    models = models_of({"verifier": config.verifier_id, "drafter": config.drafter_id})
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *_told(file)), file.kind, file.schema_version),
        provenance=env.provenance(models),
        workload=WorkloadInfo(name="niah"),
        plan=PlanInfo(max_new_tokens=config.gen_tokens),
        arms=tuple(arm for batch in file.results for arm in _arms(config, batch)),
    )


def _arms(config: Config, batch: Batch) -> Iterator[Arm]:
    yield _arm(f"ar x{batch.agents}", "ar-batched", batch.ar_aggregate_tps, None)
    restoration = Restoration(
        mode="f_theta",
        exact_layers=tuple(sorted(config.exact_layers)) if config.exact_layers is not None else None,
        sink=config.sink,
        window=config.window,
    )
    yield _arm(f"restored x{batch.agents}", "restored-batched", batch.restored_aggregate_tps, restoration)


def _arm(name: str, engine: str, rate: float | None, restoration: Restoration | None) -> Arm:
    return Arm(
        name=name,
        role="peer",
        engine=engine,
        restoration=restoration,
        measurements=(),
        stated_rates=(StatedRate(value=rate, scope="decode", statistic="total"),) if rate is not None else (),
    )


def _told(file: TenantFile) -> Iterator[str]:
    for batch in file.results[:20]:
        yield (
            f"stated of {batch.agents} sequences: recall {batch.ar_recall} plain, {batch.restored_recall} restored, "
            f"peak {batch.peak_gpu_gb} GB"
        )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
