"""The fields of a `k3_integrated_niah_acceptance_mac` file that are read, of schema 1 and 2."""

from typing import Annotated, Literal

from pydantic import Field

from reports.importers.base import Foreign
from reports.records.record import Bytes, Count, Name, TokenId

MOST_MB = 2**53 / 1e6
EvalMode = Literal[
    "free_gen", "free_gen_incremental", "free_gen_fused_specdecode", "teacher_forced", "native_ar_baseline"
]


class Config(Foreign):
    """`config`: what was asked for."""

    eval_mode: EvalMode
    verifier_path: str | None = None
    drafter_id: str | None = None
    f_theta_dir: str | None = None
    n_samples: Count | None = None
    sink_size: Count | None = None
    window_size: Count | None = None
    max_new_tokens: Count | None = None
    prefill_chunk_size: Count | None = None
    decode_warmup_tokens: Count | None = None
    block_size: Count | None = None
    seed: Count | None = None
    native_baseline_bypass: bool | None = None
    s5_exact_full_attn: bool | None = None
    identity_restore: bool | None = None
    full_attention_layers: list[Count] | None = None
    prompt_token_lens: list[Count] | None = None


class ArmResult(Foreign):
    """`results.<arm>`: parallel over samples."""

    samples_total: Count
    samples_correct: Count | None = None
    recall: float | None = None
    per_sample_decoded: list[str] | None = None
    per_sample_correct: list[bool] | None = None
    per_sample_decode_tokens: list[Count] | None = None
    system_under_test: Name | None = None


class Results(Foreign):
    """`results`."""

    k3_cross_model: ArmResult
    oracle: ArmResult | None = None


class StatedViolation(Foreign):
    """A violation that the tool's own gate found."""

    code: str


class Gate(Foreign):
    """`gate`: what the file asserts about recall."""

    recall_cross_model: float | None = None
    recall_native_baseline: float | None = None
    recall_oracle: float | None = None
    evidence_violations: list[StatedViolation] | None = None


class BlockSeconds(Foreign):
    """`time_breakdown_s`, whose other parts differ from version to version."""

    draft_s: float | None = None
    verify_s: float | None = None
    extend_s: float | None = None


class Fused(Foreign):
    """`fused` of a stage row."""

    tokens: list[TokenId] | None = None
    blocks: Count | None = None
    mean_accept_len: float | None = None
    decode_tokens: Count | None = None
    loop: Name | None = None
    adaptive_mode: str | None = None
    drafter_runtime: Name | None = None
    single_fused: bool | None = None
    time_breakdown_s: BlockSeconds | None = None


class StageRow(Foreign):
    """`stage_timings[]`; schema 1 calls the prefill by two other names."""

    sample: Count
    build_restoration_s: float | None = None
    aux_prompt_capture_s: float | None = None
    prefill_s: float | None = None
    restored_prefill_s: float | None = None
    prefill_attach_s: float | None = None
    decode_s: float | None = None
    e2e_s: float | None = None
    restoration_active: bool | None = None
    decode_loop: Name | None = None
    fused: Fused | None = None


class ArmThroughput(Foreign):
    """`throughput.<arm>`."""

    tokens_per_second: float | None = None
    timing_scope: str | None = None
    eval_mode: str | None = None
    stage_timings: list[StageRow] | None = None
    decode_loop: Name | None = None


class DecodeOnly(Foreign):
    """`throughput.decode_only`; `speedup` is the ratio of the two medians, unpaired."""

    cross_median_tok_s: float | None = None
    oracle_median_tok_s: float | None = None
    speedup: float | None = None


class Throughput(Foreign):
    """`throughput`."""

    k3_cross_model: ArmThroughput | None = None
    oracle_native_ar: ArmThroughput | None = None
    decode_only: DecodeOnly | None = None
    cross_model_speedup_vs_oracle_ar: float | None = None
    speedup_withheld_reasons: list[str] | None = None


class LayerRow(Foreign):
    """`memory.s5.per_layer[]`."""

    layer: Count
    layer_type: Literal["full_attention", "sliding_attention"]
    bytes_per_token: Bytes
    resident_positions: Count
    resident_bytes: Bytes


class S5Memory(Foreign):
    """`memory.s5`: the cache by formula."""

    seq_len: Count
    total_resident_bytes: Bytes
    exact_layer_indices: list[Count] | None = None
    formula_matches_run: bool | None = None
    per_layer: list[LayerRow] | None = None


class NaiveMemory(Foreign):
    """`memory.naive_full_kv`; MB are 1e6 bytes, rounded to two decimals."""

    total_resident_mb: Annotated[float, Field(ge=0, le=MOST_MB)]


class Memory(Foreign):
    """`memory`."""

    s5: S5Memory | None = None
    naive_full_kv: NaiveMemory | None = None
    savings_vs_naive_pct: float | None = None
    measured_peak_mb: float | None = None


class MacReport(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    results: Results
    gate: Gate | None = None
    throughput: Throughput | None = None
    memory: Memory | None = None
