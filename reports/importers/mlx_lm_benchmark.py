"""What `mlx_lm.benchmark` prints: a line a trial, at one prompt and generation length, then the averages. A text may
hold several benchmarks, one after the other.

The tool has no other output, so this is its terminal's text. The model is not in it.
"""

import re
from collections.abc import Iterator
from itertools import islice

from reports.importers.base import ForeignFormatError, Importer, Source, distinct, mark, report_id, require
from reports.records.measurement import Arm, Measurement, StatedRate
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.report import Report

NOTES = (
    "rates are stated, of all sequences of a batch together; the seconds behind them are not printed",
    "GB of peak memory are 1e9 bytes, as MLX allocates them",
    "not recorded: the model, texts, token ids, answers, a baseline, digests, machine, versions, K/V bytes",
)
MOST_TRIALS = 1000
MOST_BENCHMARKS = 200
_TIMING = re.compile(r"^Timing with prompt_tokens=(\d{1,9}), generation_tokens=(\d{1,9}), batch_size=(\d{1,6})", re.M)
_FIGURES = r"prompt_tps=([\d.]{1,20}), generation_tps=([\d.]{1,20}), peak_memory=([\d.]{1,20})"
_TRIAL = re.compile(rf"^Trial \d{{1,6}}: +{_FIGURES}", re.M)
_AVERAGES = re.compile(rf"^Averages: +{_FIGURES}", re.M)


def _recognises(source: Source) -> bool:
    return source.text and _TRIAL.search(source.value) is not None


def _load(source: Source) -> Report:
    begun = [found.start() for found in islice(_TIMING.finditer(source.value), MOST_BENCHMARKS + 1)] or [0]
    require(len(begun) <= MOST_BENCHMARKS, f"Timing with: more than {MOST_BENCHMARKS} benchmarks in one text")
    parts = [source.value[start:end] for start, end in zip(begun, (*begun[1:], None), strict=True)]
    names = distinct(map(_name, parts))
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES),
        workload=WorkloadInfo(
            name=IMPORTER.name,
            prompts=tuple(PromptRecord(sample=n, token_count=_sizes(part)[0]) for n, part in enumerate(parts)),
        ),
        arms=tuple(_arm(sample, name, part) for sample, (name, part) in enumerate(zip(names, parts, strict=True))),
    )


def _sizes(part: str) -> tuple[int | None, int | None, int]:
    """Tokens of the prompt and of the generation, and sequences at once."""
    timing = _TIMING.search(part)
    return (int(timing[1]), int(timing[2]), int(timing[3])) if timing is not None else (None, None, 1)


def _name(part: str) -> str:
    prompt, generated, batch = _sizes(part)
    many = f" batch {batch}" if batch != 1 else ""
    return f"pp{prompt}+tg{generated}{many}" if prompt is not None else "benchmark"


def _arm(sample: int, name: str, part: str) -> Arm:
    trials = list(islice(_TRIAL.finditer(part), MOST_TRIALS + 1))
    require(len(trials) <= MOST_TRIALS, f"Trial: more than {MOST_TRIALS} trials in {name}")
    return Arm(
        name=name,
        role="peer",
        engine=IMPORTER.name,
        measurements=tuple(_row(sample, repeat, _sizes(part)[0], trial) for repeat, trial in enumerate(trials)),
        stated_rates=tuple(_averages(part)),
    )


def _row(sample: int, repeat: int, prompt: int | None, trial: re.Match[str]) -> Measurement:
    return Measurement(
        sample=sample,
        repeat=repeat,
        prompt_tokens=prompt,
        stated_decode_tok_s=_number(trial[2]),
        peak_bytes=round(_number(trial[3]) * 1e9),
    )


def _averages(text: str) -> Iterator[StatedRate]:
    found = _AVERAGES.search(text)
    if found is not None:
        yield StatedRate(value=_number(found[1]), scope="prefill", statistic="mean")
        yield StatedRate(value=_number(found[2]), scope="decode", statistic="mean")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ForeignFormatError(f"Trial: {text} is not a number") from error


IMPORTER = Importer("mlx-lm-benchmark", _recognises, _load)
