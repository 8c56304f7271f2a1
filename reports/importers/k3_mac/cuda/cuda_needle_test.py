"""The predecessor's needle test on CUDA, kind `k3_integrated_niah_acceptance`: no cache, so every token is a prefill.

Each step runs the whole sequence through the model again. There are no stages and no throughput of a sample.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    mark,
    models_of,
    of_kind,
    parse_foreign,
    report_id,
    require,
)
from reports.records.claims import RecallClaim
from reports.records.measurement import Arm, Measurement, Restoration
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import Provenance
from reports.records.record import Count
from reports.report import Report

T = TypeVar("T")
KIND = "k3_integrated_niah_acceptance"
CROSS, ORACLE = "k3_cross_model", "oracle"
NOTES = (
    "as the tool counts: the stop token is among the tokens of a sample; its times are means over all samples",
    "restoration is what was configured; whether it ran in a row is not recorded",
    "not recorded: stages, token ids, order of runs, repeats, digests, stop reasons, K/V bytes, controls, stream audit",
)


class Config(Foreign):
    """`config`."""

    verifier_id: str | None = None
    drafter_id: str | None = None
    f_theta_dir: str | None = None
    n_samples: Count | None = None
    sink_size: Count | None = None
    window_size: Count | None = None
    max_new_tokens: Count | None = None
    seed: Count | None = None
    identity_restore: bool | None = None
    prompt_token_lens: list[Count] | None = None


class Result(Foreign):
    """`results.<arm>`; arrays are parallel over samples."""

    recall: Annotated[float, Field(ge=0, le=1)] | None = None
    per_sample_decoded: list[str] | None = None
    per_sample_correct: list[bool] | None = None
    per_sample_decode_tokens: list[Count] | None = None


class Results(Foreign):
    """`results`."""

    k3_cross_model: Result
    oracle: Result | None = None


class CudaFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    results: Results


def _load(source: Source) -> Report:
    file = parse_foreign(CudaFile, source.value)
    config = file.config
    models = models_of({"verifier": config.verifier_id, "drafter": config.drafter_id, "f_theta": config.f_theta_dir})
    lengths = config.prompt_token_lens
    arms = [_arm(CROSS, file.results.k3_cross_model, config)]
    arms += [_arm(ORACLE, file.results.oracle, config)] if file.results.oracle is not None else []
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES, file.kind, file.schema_version),
        provenance=Provenance(models=models),
        workload=WorkloadInfo(
            name="niah",
            seed=config.seed,
            prompts=tuple(PromptRecord(sample=sample, token_count=count) for sample, count in enumerate(lengths or ())),
        ),
        plan=PlanInfo(samples=config.n_samples, max_new_tokens=config.max_new_tokens),
        arms=tuple(arms),
        claims=tuple(_claims(file.results)),
    )


def _arm(name: str, result: Result, config: Config) -> Arm:
    mode = "identity" if config.identity_restore else "f_theta" if config.f_theta_dir is not None else None
    restoration = None
    if name == CROSS and mode is not None:
        restoration = Restoration.model_validate({"mode": mode, "sink": config.sink_size, "window": config.window_size})
    return Arm(
        name=name,
        role="sut" if name == CROSS else "oracle",
        engine="full-recompute",
        restoration=restoration,
        measurements=tuple(_rows(name, result, config.prompt_token_lens)),
    )


def _rows(name: str, result: Result, lengths: Sequence[int] | None) -> Iterator[Measurement]:
    arrays = (result.per_sample_decoded, result.per_sample_correct, result.per_sample_decode_tokens)
    sizes = {len(array) for array in arrays if array is not None}
    require(len(sizes) < 2, f"results.{name}: arrays of {', '.join(map(str, sorted(sizes)))} samples")
    for sample in range(max(sizes, default=0)):
        yield Measurement(
            sample=sample,
            repeat=0,
            prompt_tokens=_at(lengths, sample),
            text=_at(result.per_sample_decoded, sample),
            correct=_at(result.per_sample_correct, sample),
            decode_tokens=_at(result.per_sample_decode_tokens, sample),
        )


def _at(values: Sequence[T] | None, index: int) -> T | None:
    return values[index] if values is not None and index < len(values) else None


def _claims(results: Results) -> Iterator[RecallClaim]:
    if results.k3_cross_model.recall is not None:
        yield RecallClaim(
            name=f"restoration_recall/{CROSS}",
            metric="restoration_recall",
            value=results.k3_cross_model.recall,
            arm=CROSS,
            status="claimed",
        )
    if results.oracle is not None and results.oracle.recall is not None:
        yield RecallClaim(
            name=f"oracle_recall/{ORACLE}",
            metric="oracle_recall",
            value=results.oracle.recall,
            arm=ORACLE,
            status="claimed",
        )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
