"""Rows of a `k3_integrated_niah_acceptance_mac` file: its parallel arrays and stage rows become one row a sample."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from reports.importers.base import require
from reports.importers.k3_mac.needle_shapes import (
    ArmResult,
    ArmThroughput,
    BlockSeconds,
    Fused,
    MacReport,
    StageRow,
    Throughput,
)
from reports.importers.k3_mac.observed import restoration_active
from reports.records.measurement import Measurement, Speculation, StatedRate

T = TypeVar("T")
FUSED_MODE = "free_gen_fused_specdecode"


def check_consistent(file: MacReport) -> None:
    """Refuse a file whose parallel arrays do not line up or that states one thing twice, differently.

    Raises:
        ForeignFormatError: naming the field.
    """
    measured = file.throughput.k3_cross_model if file.throughput is not None else None
    mode = measured.eval_mode if measured is not None else None
    require(
        mode in (None, file.config.eval_mode),
        f"throughput.k3_cross_model.eval_mode: {mode!r} differs from config.eval_mode",
    )
    _check_arm("k3_cross_model", file.results.k3_cross_model, measured)
    count = file.results.k3_cross_model.samples_total
    _check_length("config.prompt_token_lens", file.config.prompt_token_lens, count)
    if file.results.oracle is not None:
        oracle = file.throughput.oracle_native_ar if file.throughput is not None else None
        _check_arm("oracle", file.results.oracle, oracle)


def _check_arm(name: str, result: ArmResult, measured: ArmThroughput | None) -> None:
    count = result.samples_total
    arrays = {
        "per_sample_decoded": result.per_sample_decoded,
        "per_sample_correct": result.per_sample_correct,
        "per_sample_decode_tokens": result.per_sample_decode_tokens,
    }
    for field, values in arrays.items():
        _check_length(f"results.{name}.{field}", values, count)
    stages = (measured.stage_timings if measured is not None else None) or ()
    recorded = max(len(stages), *(len(values or ()) for values in arrays.values()))
    require(count <= recorded, f"results.{name}.samples_total: {count}, but {recorded} samples are recorded")
    if result.per_sample_correct is not None and result.samples_correct is not None:
        found = sum(result.per_sample_correct)
        require(
            found == result.samples_correct,
            f"results.{name}.samples_correct: {result.samples_correct}, but {found} samples are marked correct",
        )


def _check_length(field: str, values: Sequence[object] | None, count: int) -> None:
    require(values is None or len(values) == count, f"{field}: {len(values or ())} values for {count} samples")


def _stages(field: str, measured: ArmThroughput | None, count: int) -> Mapping[int, StageRow]:
    """Stage rows by sample; samples without one are absent."""
    found: dict[int, StageRow] = {}
    for index, row in enumerate((measured.stage_timings if measured is not None else None) or ()):
        where = f"{field}.stage_timings.{index}.sample"
        require(row.sample < count, f"{where}: {row.sample}, but there are {count} samples")
        require(row.sample not in found, f"{where}: {row.sample} stands twice")
        found[row.sample] = row
    return found


def cross_rows(file: MacReport) -> Iterator[Measurement]:
    """One row a sample of the arm under test.

    Raises:
        ForeignFormatError: a row contradicts the arrays.
    """
    result, field = file.results.k3_cross_model, "throughput.k3_cross_model"
    measured = file.throughput.k3_cross_model if file.throughput is not None else None
    stages = _stages(field, measured, result.samples_total)
    lengths = file.config.prompt_token_lens
    for sample in range(result.samples_total):
        row = stages.get(sample) or StageRow(sample=sample)
        fused = row.fused
        tokens = _at(result.per_sample_decode_tokens, sample)
        again = fused.decode_tokens if fused is not None else None
        require(
            again is None or tokens in (None, again),
            f"{field}.stage_timings: sample {sample}: fused.decode_tokens is {again}, the sample's are {tokens}",
        )
        prompt_tokens = _at(lengths, sample)
        drafting = file.config.eval_mode == FUSED_MODE
        blocks = fused.blocks if fused is not None else None
        yield Measurement(
            sample=sample,
            repeat=0,
            prompt_tokens=prompt_tokens,
            token_ids=tuple(fused.tokens) if fused is not None and fused.tokens is not None else None,
            text=_at(result.per_sample_decoded, sample),
            correct=_at(result.per_sample_correct, sample),
            restoration_active=restoration_active(
                row.restoration_active,
                row.build_restoration_s,
                prompt_tokens,
                aux_s=row.aux_prompt_capture_s if drafting else row.aux_prompt_capture_s or 0.0,
                blocks=blocks if drafting else blocks or 0,
            ),
            restoration_s=row.build_restoration_s,
            aux_s=row.aux_prompt_capture_s,
            prefill_s=_prefill(row),
            decode_s=row.decode_s,
            e2e_s=row.e2e_s,
            decode_tokens=tokens if tokens is not None else again,
            decode_loop=row.decode_loop,
            speculation=_speculation(fused) if fused is not None else None,
            stated_restoration_active=row.restoration_active,
        )


def oracle_rows(file: MacReport) -> Iterator[Measurement]:
    """One row a sample of the oracle; its token ids are not recorded."""
    result = file.results.oracle
    if result is None:
        return
    measured = file.throughput.oracle_native_ar if file.throughput is not None else None
    stages = _stages("throughput.oracle_native_ar", measured, result.samples_total)
    for sample in range(result.samples_total):
        row = stages.get(sample) or StageRow(sample=sample)
        yield Measurement(
            sample=sample,
            repeat=0,
            prompt_tokens=_at(file.config.prompt_token_lens, sample),
            text=_at(result.per_sample_decoded, sample),
            correct=_at(result.per_sample_correct, sample),
            prefill_s=_prefill(row),
            decode_s=row.decode_s,
            e2e_s=row.e2e_s,
            decode_tokens=_at(result.per_sample_decode_tokens, sample),
            decode_loop=row.decode_loop,
        )


def _at(values: Sequence[T] | None, index: int) -> T | None:
    return values[index] if values is not None and index < len(values) else None


def _prefill(row: StageRow) -> float | None:
    """One of three names, by age of the file.

    Raises:
        ForeignFormatError: two of them stand in one row and differ.
    """
    named = {row.prefill_s, row.restored_prefill_s, row.prefill_attach_s} - {None}
    require(len(named) < 2, f"stage_timings: sample {row.sample}: two prefill times that differ")
    return named.pop() if named else None


def _speculation(fused: Fused) -> Speculation:
    """`mean_accept_len` counts committed tokens where the loop is named, bonus and accepted drafts where not."""
    times = fused.time_breakdown_s or BlockSeconds()
    counts = "committed" if fused.loop is not None else "bonus_and_accepted"
    return Speculation.model_validate(
        {
            "blocks": fused.blocks,
            "mean_accept_len": fused.mean_accept_len,
            "accept_len_counts": counts if fused.mean_accept_len is not None else None,
            "draft_s": times.draft_s,
            "verify_s": times.verify_s,
            "extend_s": times.extend_s,
        }
    )


def fused_parts(file: MacReport) -> tuple[Fused, ...]:
    """The fused part of every stage row that has one."""
    measured = file.throughput.k3_cross_model if file.throughput is not None else None
    stages = (measured.stage_timings if measured is not None else None) or ()
    return tuple(row.fused for row in stages if row.fused is not None)


def timing_scope(measured: ArmThroughput | None) -> Literal["stages", "e2e_prefill_plus_decode"] | None:
    """The scope as recorded; one that K3 has no word for is unknown."""
    match measured.timing_scope if measured is not None else None:
        case "stages":
            return "stages"
        case "e2e_prefill_plus_decode":
            return "e2e_prefill_plus_decode"
    return None


def stated_rates(throughput: Throughput | None, arm: str) -> tuple[StatedRate, ...]:
    """Tokens a second that the file prints for `arm`: over everything, and the decode-only median."""
    if throughput is None:
        return ()
    cross = arm == "k3_cross_model"
    measured = throughput.k3_cross_model if cross else throughput.oracle_native_ar
    decode = throughput.decode_only
    rates = []
    if measured is not None and measured.tokens_per_second is not None:
        rates.append(StatedRate(value=measured.tokens_per_second, scope="e2e", statistic="total"))
    if decode is not None:
        median = decode.cross_median_tok_s if cross else decode.oracle_median_tok_s
        if median is not None:
            rates.append(StatedRate(value=median, scope="decode", statistic="median"))
    return tuple(rates)
