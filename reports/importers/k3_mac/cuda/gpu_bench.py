"""The predecessor's speculative decoding on a GPU, kind `k3_specdecode_gpu_bench`.

Four sections: native AR, restored token by token, restored in blocks (often skipped), restored and fused. Only the
last two have rows; of the others means are all there is.
"""

from collections.abc import Iterator

from reports.engines import FUSED
from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    mark,
    model_id,
    models_of,
    of_kind,
    parse_foreign,
    report_id,
)
from reports.importers.k3_mac.cuda.environment import Environment
from reports.records.claims import Claim, RecallClaim, SpeedupClaim
from reports.records.measurement import Arm, DrafterInfo, Measurement, Restoration, Role, Speculation, StatedRate
from reports.records.plan import PlanInfo, WorkloadInfo
from reports.records.record import Count, TokenId
from reports.report import Report

KIND = "k3_specdecode_gpu_bench"
ORACLE = "ar_incremental"
SECTIONS: tuple[tuple[str, Role, str], ...] = (
    (ORACLE, "oracle", "ar-incremental"),
    ("restored_pertoken", "peer", "restored-pertoken"),
    ("restored_specdecode", "sut", "restored-specdecode"),
    ("restored_specdecode_fused", "sut", FUSED.name),
)
NOTES = (
    "derived: decode_speedup is stated as a ratio of mean rates; the rows of the AR arm are not recorded",
    "as the tool counts: decode_tokens are all tokens; mean_accept_len counts accepted drafts only",
    "not recorded: rows of arms that have only means, texts and correctness of a sample, restoration, stop reasons",
    "not recorded: order of runs, repeats, decode loops, digests, K/V bytes, controls, stream audit",
)


class Config(Foreign):
    """`config`."""

    verifier_id: str | None = None
    drafter_id: str | None = None
    f_theta_dir: str | None = None
    n_samples: Count | None = None
    max_new_tokens: Count | None = None
    block_size: Count | None = None
    sink: Count | None = None
    window: Count | None = None
    seed: Count | None = None


class PromptTokens(Foreign):
    """`prompt_tokens`: the length of every prompt only where the two agree."""

    min: Count
    max: Count


class BlockSeconds(Foreign):
    """`time_breakdown_s`, whose parts differ from version to version."""

    drafter: float | None = None
    drafter_cached: float | None = None
    incremental_verify: float | None = None
    ctx_kv_extend: float | None = None


class SampleRow(Foreign):
    """`per_sample[]`."""

    tokens: list[TokenId] | None = None
    prefill_s: float | None = None
    decode_s: float | None = None
    decode_tokens_per_s: float | None = None
    decode_tokens: Count | None = None
    blocks: Count | None = None
    mean_accept_len: float | None = None
    time_breakdown_s: BlockSeconds | None = None


class Section(Foreign):
    """One way to decode."""

    skipped: bool | None = None
    decode_tokens_per_s_mean: float | None = None
    mean_accept_len: float | None = None
    recall: float | None = None
    speedup_over_ar_x: float | None = None
    per_sample: list[SampleRow] | None = None


class GpuFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    env: Environment | None = None
    prompt_tokens: PromptTokens | None = None
    ar_incremental: Section | None = None
    restored_pertoken: Section | None = None
    restored_specdecode: Section | None = None
    restored_specdecode_fused: Section | None = None

    def sections(self) -> Iterator[tuple[str, Role, str, Section]]:
        """Name, role, engine and content of every section that was run."""
        for name, role, engine in SECTIONS:
            section: Section | None = getattr(self, name)
            if section is not None and not section.skipped:
                yield name, role, engine, section


def _load(source: Source) -> Report:
    file = parse_foreign(GpuFile, source.value)
    config = file.config
    models = models_of({"verifier": config.verifier_id, "drafter": config.drafter_id, "f_theta": config.f_theta_dir})
    env = file.env or Environment()
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, _notes(file), file.kind, file.schema_version),
        provenance=env.provenance(models),
        workload=WorkloadInfo(name="niah", seed=config.seed),
        plan=PlanInfo(samples=config.n_samples, max_new_tokens=config.max_new_tokens),
        arms=tuple(_arm(file, *section) for section in file.sections()),
        claims=tuple(_claims(file)),
    )


def _arm(file: GpuFile, name: str, role: Role, engine: str, section: Section) -> Arm:
    config, prompts = file.config, file.prompt_tokens
    restored = role != "oracle" and config.f_theta_dir is not None
    drafted = role == "sut" and config.drafter_id is not None
    length = prompts.min if prompts is not None and prompts.min == prompts.max else None
    mean = section.decode_tokens_per_s_mean
    return Arm(
        name=name,
        role=role,
        engine=engine,
        restoration=Restoration(mode="f_theta", sink=config.sink, window=config.window) if restored else None,
        drafter=DrafterInfo(name=model_id(config.drafter_id or ""), block_size=config.block_size) if drafted else None,
        measurements=tuple(_row(sample, row, length) for sample, row in enumerate(section.per_sample or ())),
        stated_rates=(StatedRate(value=mean, scope="decode", statistic="mean"),) if mean is not None else (),
    )


def _row(sample: int, row: SampleRow, prompt_tokens: int | None) -> Measurement:
    times = row.time_breakdown_s or BlockSeconds()
    return Measurement(
        sample=sample,
        repeat=0,
        prompt_tokens=prompt_tokens,
        token_ids=tuple(row.tokens) if row.tokens is not None else None,
        prefill_s=row.prefill_s,
        decode_s=row.decode_s,
        decode_tokens=row.decode_tokens,
        stated_decode_tok_s=row.decode_tokens_per_s,
        speculation=Speculation(
            blocks=row.blocks,
            mean_accept_len=row.mean_accept_len,
            accept_len_counts="accepted" if row.mean_accept_len is not None else None,
            draft_s=times.drafter_cached if times.drafter_cached is not None else times.drafter,
            verify_s=times.incremental_verify,
            extend_s=times.ctx_kv_extend,
        ),
    )


def _claims(file: GpuFile) -> Iterator[Claim]:
    for name, role, _, section in file.sections():
        if section.speedup_over_ar_x is not None:
            yield SpeedupClaim(
                name=f"decode_speedup/{name}",
                metric="decode_speedup",
                value=section.speedup_over_ar_x,
                arm=name,
                baseline=ORACLE,
                status="claimed",
                estimator="ratio_of_means",
            )
        if section.recall is not None:
            metric = "oracle_recall" if role == "oracle" else "restoration_recall"
            claim = {"name": f"{metric}/{name}", "metric": metric, "value": section.recall, "arm": name}
            yield RecallClaim.model_validate({**claim, "status": "claimed"})


def _notes(file: GpuFile) -> Iterator[str]:
    yield from NOTES
    for name, _, _ in SECTIONS:
        section: Section | None = getattr(file, name)
        if section is not None and section.skipped:
            yield f"{name} was skipped and is left out, its zeros too"
        elif section is not None and section.mean_accept_len is not None:
            yield f"stated: {name} mean_accept_len {section.mean_accept_len}"


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
