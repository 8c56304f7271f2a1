"""The predecessor's batches through vLLM on CUDA, kind `vllm_multitenant_parallel`: rates of many prompts at once."""

from collections.abc import Iterator

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    distinct,
    mark,
    models_of,
    of_kind,
    parse_foreign,
    report_id,
)
from reports.importers.k3_mac.cuda.environment import Environment
from reports.records.measurement import Arm, StatedRate
from reports.records.plan import PlanInfo, WorkloadInfo
from reports.records.record import Count
from reports.report import Report

KIND = "vllm_multitenant_parallel"
MOST_TOLD = 20
"""Batches whose stated figures notes keep."""

NOTES = (
    "a rate is that of all sequences of a batch together; decode runs from the first token of any to the last of all",
    "recall is stated as a share of the batch; which sample was right is not recorded",
    "not recorded: rows, texts, token ids, prefill, order, repeats, digests, K/V bytes, controls, an audit",
)


class Config(Foreign):
    """`config`."""

    verifier_id: str | None = None
    gen_tokens: Count | None = None


class Batch(Foreign):
    """`results[]`."""

    agents: Count
    decode_aggregate_tps: float | None = None
    e2e_aggregate_tps: float | None = None
    recall: float | None = None


class BatchesFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    env: Environment | None = None
    results: list[Batch]


def _load(source: Source) -> Report:
    file = parse_foreign(BatchesFile, source.value)
    config, env = file.config, file.env or Environment()
    names = distinct(f"vllm x{batch.agents}" for batch in file.results)
    told = [f"stated of {batch.agents} sequences: recall {batch.recall}" for batch in file.results[:MOST_TOLD]]
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *told), file.kind, file.schema_version),
        provenance=env.provenance(models_of({"verifier": config.verifier_id})),
        workload=WorkloadInfo(name="niah"),
        plan=PlanInfo(max_new_tokens=config.gen_tokens),
        arms=tuple(
            Arm(name=name, role="peer", engine="vllm", measurements=(), stated_rates=tuple(_rates(batch)))
            for name, batch in zip(names, file.results, strict=True)
        ),
    )


def _rates(batch: Batch) -> Iterator[StatedRate]:
    if batch.decode_aggregate_tps is not None:
        yield StatedRate(value=batch.decode_aggregate_tps, scope="decode", statistic="total")
    if batch.e2e_aggregate_tps is not None:
        yield StatedRate(value=batch.e2e_aggregate_tps, scope="e2e", statistic="total")


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
