"""Benchmark files of dflash-mlx: one prompt, `repeat` runs, each a plain mlx-lm generation and then a DFlash one.

`generation_tps` is printed without the tokens and seconds behind it, `ttft_ms` is the prefill of either arm,
`acceptance_ratio` is accepted drafts over emitted tokens (not over drafts), GB are 1e9 bytes.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from reports.importers.base import Foreign, Importer, Source, mark, model_id, parse_foreign, report_id
from reports.records.claims import AcceptanceClaim, Claim, SpeedupClaim
from reports.records.measurement import Arm, DrafterInfo, Measurement, Speculation, StatedRate
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Package, Provenance
from reports.records.record import Count, Name
from reports.report import Report

BASELINE = "baseline"
DFLASH = "dflash"
MOST_GB = 2**53 / 1e9
MOST_TOKENS = 2**31
NOTES = (
    "derived: committed tokens, as cycles x tokens_per_cycle; what the acceptance divides by, from the same numbers",
    "stated only: decode rates; the decode tokens and seconds behind them are not recorded",
    "one prompt: its repeats are repeats of one sample, not samples",
    "not recorded: token ids, texts, end-to-end times, order of the arms, decode loops, stop reasons, weight digests",
)


class Hardware(Foreign):
    """`hardware`."""

    chip: str | None = None
    memory_gb: str | None = None
    mlx_version: Name | None = None
    python: str | None = None


class Config(Foreign):
    """`config`."""

    target_model: str
    draft_model: str
    max_new_tokens: Count | None = None
    block_tokens: Count | None = None
    prompt_tokens: Count | None = None
    repeat: Count | None = None
    cooldown: float | None = None
    git_hash: str | None = None


class BaselineRun(Foreign):
    """`runs[].baseline`."""

    ttft_ms: float | None = None
    generation_tps: float | None = None
    peak_memory_gb: Annotated[float, Field(ge=0, le=MOST_GB)] | None = None


class DflashRun(BaselineRun):
    """`runs[].dflash`; a cycle is a draft + verify round."""

    tokens_per_cycle: Annotated[float, Field(ge=0, le=MOST_TOKENS)] | None = None
    cycles: Count | None = None
    acceptance_ratio: float | None = None


class Run(Foreign):
    """`runs[]`, numbered from 1."""

    run: Count
    thermal_pressure: str | None = None
    baseline: BaselineRun
    dflash: DflashRun


class Summary(Foreign):
    """`summary`: medians over the runs; the speed-up is the median of the runs' ratios."""

    baseline_tps_median: float | None = None
    dflash_tps_median: float | None = None
    speedup_median: float | None = None
    acceptance_ratio_median: float | None = None


class DflashFile(Foreign):
    """A whole file."""

    hardware: Hardware | None = None
    config: Config
    runs: list[Run]
    summary: Summary | None = None


def _recognises(source: Source) -> bool:
    value = source.value
    if not isinstance(value, dict) or "kind" in value or "schema_version" in value or "arms" in value:
        return False
    config, runs = value.get("config"), value.get("runs")
    return isinstance(config, dict) and isinstance(runs, list) and {"target_model", "draft_model"} <= config.keys()


def _load(source: Source) -> Report:
    file = parse_foreign(DflashFile, source.value)
    config, summary = file.config, file.summary or Summary()
    mlx = file.hardware.mlx_version if file.hardware is not None else None
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, _notes(file)),
        provenance=Provenance(
            models=(
                ModelInfo(role="verifier", id=model_id(config.target_model)),
                ModelInfo(role="drafter", id=model_id(config.draft_model)),
            ),
            packages=(Package(name="mlx", version=mlx),) if mlx is not None else None,
        ),
        workload=WorkloadInfo(name=IMPORTER.name, prompts=(PromptRecord(sample=0, token_count=config.prompt_tokens),)),
        plan=PlanInfo(samples=1, repeats=config.repeat, max_new_tokens=config.max_new_tokens),
        arms=(
            Arm(
                name=BASELINE,
                role="oracle",
                engine=BASELINE,
                measurements=tuple(_row(file, run, run.baseline) for run in file.runs),
                stated_rates=_median(summary.baseline_tps_median),
            ),
            Arm(
                name=DFLASH,
                role="sut",
                engine=DFLASH,
                drafter=DrafterInfo(name=model_id(config.draft_model), block_size=config.block_tokens),
                measurements=tuple(_row(file, run, run.dflash) for run in file.runs),
                stated_acceptance=summary.acceptance_ratio_median,
                stated_rates=_median(summary.dflash_tps_median),
            ),
        ),
        claims=tuple(_claims(file, summary)),
    )


def _median(value: float | None) -> tuple[StatedRate, ...]:
    return (StatedRate(value=value, scope="decode", statistic="median"),) if value is not None else ()


def _row(file: DflashFile, run: Run, measured: BaselineRun) -> Measurement:
    peak = measured.peak_memory_gb
    return Measurement(
        sample=0,
        repeat=max(0, run.run - 1),
        prompt_tokens=file.config.prompt_tokens,
        prefill_s=measured.ttft_ms / 1000 if measured.ttft_ms is not None else None,
        peak_bytes=round(peak * 1e9) if peak is not None else None,
        stated_decode_tok_s=measured.generation_tps,
        speculation=_speculation(measured) if isinstance(measured, DflashRun) else None,
    )


def _speculation(run: DflashRun) -> Speculation:
    return Speculation(
        blocks=run.cycles,
        committed=_committed(run),
        mean_accept_len=run.tokens_per_cycle,
        accept_len_counts="committed" if run.tokens_per_cycle is not None else None,
    )


def _committed(run: DflashRun) -> int | None:
    """Emitted tokens: the tool divides them by the cycles, so the product must be a whole number."""
    if run.cycles is None or run.tokens_per_cycle is None:
        return None
    product = run.cycles * run.tokens_per_cycle
    return round(product) if abs(product - round(product)) < 1e-6 * max(1.0, product) else None


def _denominator(runs: list[Run]) -> Literal["output_tokens", "unknown"]:
    """What `acceptance_ratio` divides accepted drafts by: emitted tokens, if every run's numbers say so."""
    for run in (run.dflash for run in runs):
        emitted = _committed(run)
        if not emitted or run.cycles is None or run.acceptance_ratio is None:
            return "unknown"
        # Every cycle emits one token of the verifier's own; the last may be cut inside its drafts.
        if abs(run.acceptance_ratio * emitted - (emitted - run.cycles)) > 1:
            return "unknown"
    return "output_tokens" if runs else "unknown"


def _claims(file: DflashFile, summary: Summary) -> Iterator[Claim]:
    if summary.speedup_median is not None:
        yield SpeedupClaim(
            name=f"decode_speedup/{DFLASH}",
            metric="decode_speedup",
            value=summary.speedup_median,
            arm=DFLASH,
            baseline=BASELINE,
            status="claimed",
            estimator="median_of_ratios",
        )
    if summary.acceptance_ratio_median is not None:
        per_cycle = sorted(run.dflash.tokens_per_cycle for run in file.runs if run.dflash.tokens_per_cycle is not None)
        yield AcceptanceClaim(
            name=f"acceptance/{DFLASH}",
            metric="acceptance",
            value=summary.acceptance_ratio_median,
            arm=DFLASH,
            status="claimed",
            committed_per_block=per_cycle[len(per_cycle) // 2] if per_cycle else None,
            denominator=_denominator(file.runs),
        )


def _notes(file: DflashFile) -> Iterator[str]:
    yield from NOTES
    hardware = file.hardware
    if hardware is not None:
        yield f"stated: chip {hardware.chip}, {hardware.memory_gb} GB, Python {hardware.python}"
    yield f"stated: commit {file.config.git_hash}, cooldown {file.config.cooldown} s"
    heat = sorted({run.thermal_pressure for run in file.runs if run.thermal_pressure is not None})
    yield f"stated: thermal pressure {', '.join(heat) or 'nowhere'}"


IMPORTER = Importer("dflash-mlx", _recognises, _load)
