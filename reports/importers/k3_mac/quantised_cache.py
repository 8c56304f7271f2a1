"""The predecessor's quantisation of the K/V cache, kind `k3_kv_quant_eval`: means of each codec, rows of none."""

from collections.abc import Iterator

from reports.importers.base import Foreign, Importer, Source, mark, model_id, of_kind, parse_foreign, report_id, require
from reports.records.claims import KvQuantClaim
from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult, StatedCodecVerdict
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.records.record import Count, Name
from reports.report import Report

KIND = "k3_kv_quant_eval"
NOTES = (
    "not recorded: stored bytes, values, errors and correctness of a sample, token ids, whether scales are counted",
    "stated only: recall, bits a value and relative error are means over the samples of a codec",
    "worthwhile is what the file calls mlx_port_justified",
)


class Config(Foreign):
    """`config`."""

    verifier_path: str | None = None
    n_samples: Count | None = None
    max_new_tokens: Count | None = None
    prefill_chunk_size: Count | None = None
    seed: Count | None = None


class CodecResult(Foreign):
    """`results.<codec>`."""

    recall: float | None = None
    bits_per_value_mean: float | None = None
    full_attn_rel_mse_mean: float | None = None
    per_sample_decoded: list[str] | None = None


class CodecVerdict(Foreign):
    """`verdict.<codec>`."""

    mlx_port_justified: bool


class KvQuantFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    prompt_token_lens: list[Count] | None = None
    oracle_recall: float | None = None
    results: dict[Name, CodecResult]
    verdict: dict[Name, CodecVerdict] | None = None


def _load(source: Source) -> Report:
    file = parse_foreign(KvQuantFile, source.value)
    config = file.config
    stated = file.verdict or {}
    for codec in stated:
        require(codec in file.results, f"verdict.{codec}: there are no results of this codec")
    verdicts = tuple(
        StatedCodecVerdict(arm=codec, worthwhile=verdict.mlx_port_justified) for codec, verdict in stated.items()
    )
    models = (ModelInfo(role="verifier", id=model_id(config.verifier_path)),) if config.verifier_path else ()
    prompts = enumerate(file.prompt_token_lens or ())
    return Report(
        kind="kv_quant",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES, file.kind, file.schema_version),
        provenance=Provenance(models=models),
        workload=WorkloadInfo(
            name="niah",
            seed=config.seed,
            prompts=tuple(PromptRecord(sample=sample, token_count=count) for sample, count in prompts),
        ),
        plan=PlanInfo(
            samples=config.n_samples, max_new_tokens=config.max_new_tokens, prefill_chunk=config.prefill_chunk_size
        ),
        kv_quant=KvQuantResult(
            oracle_recall=file.oracle_recall,
            arms=tuple(_arm(codec, result) for codec, result in file.results.items()),
            verdicts=verdicts,
        ),
        claims=tuple(_claims(file, verdicts)),
    )


def _arm(codec: str, result: CodecResult) -> CodecArm:
    return CodecArm(
        name=codec,
        codec=codec,
        samples=tuple(
            CodecSample(sample=sample, text=text) for sample, text in enumerate(result.per_sample_decoded or ())
        ),
        stated_recall=result.recall,
        stated_bits=result.bits_per_value_mean,
        stated_relative_error=result.full_attn_rel_mse_mean,
    )


def _claims(file: KvQuantFile, verdicts: tuple[StatedCodecVerdict, ...]) -> Iterator[KvQuantClaim]:
    for verdict in verdicts:
        yield KvQuantClaim(
            name=f"kv_codec_worthwhile/{verdict.arm}",
            metric="kv_codec_worthwhile",
            value=float(verdict.worthwhile),
            arm=verdict.arm,
            status="claimed",
            samples=len(file.results[verdict.arm].per_sample_decoded or ()),
        )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
