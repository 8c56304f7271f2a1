"""What the serving benchmarks of vLLM and SGLang have in common: totals of a run, and lists that are parallel over its
requests where the user asked for details."""

from collections.abc import Iterable, Iterator, Sequence

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    distinct,
    mark,
    model_id,
    parse_element,
    report_id,
)
from reports.records.measurement import Arm, Measurement, StatedRate
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.records.record import Count
from reports.report import Report

NOTES = (
    "as the tool counts: output tokens are all tokens of a request; its time holds waiting, prefill and the network",
    "a rate over all requests of a run is no rate of one request: under load many share the machine",
    "not recorded: token ids, correctness, prefill and decode apart, order of runs, a baseline, digests, K/V bytes",
)
TOLD = ("output_throughput", "request_throughput", "duration", "completed", "failed", "max_concurrency",
        "mean_ttft_ms", "mean_tpot_ms", "spec_decode_acceptance_rate", "spec_decode_acceptance_length",
        "accept_length")  # fmt: skip
"""Figures of a run that notes keep as they were stated."""

MOST_TOLD = 20
"""Runs of a file whose stated figures are kept in notes."""


class ServingRun(Foreign):
    """One run: a file of its own, or a line of one that is appended to."""

    backend: str | None = None
    endpoint_type: str | None = None
    model_id: str | None = None
    dataset_name: str | None = None
    request_rate: float | str | None = None
    max_concurrency: Count | None = None
    duration: float | None = None
    completed: Count | None = None
    failed: Count | None = None
    output_throughput: float | None = None
    request_throughput: float | None = None
    mean_ttft_ms: float | None = None
    mean_tpot_ms: float | None = None
    spec_decode_acceptance_rate: float | None = None
    spec_decode_acceptance_length: float | None = None
    accept_length: float | None = None
    input_lens: list[Count] | None = None
    output_lens: list[Count] | Count | None = None
    ttfts: list[float | None] | None = None
    itls: list[list[float | None]] | None = None
    latencies: list[float | None] | None = None
    generated_texts: list[str | None] | None = None

    @property
    def name(self) -> str:
        """What tells the run from others of the same file."""
        rate = self.request_rate if isinstance(self.request_rate, float) else "inf"
        load = f" at most {self.max_concurrency}" if self.max_concurrency is not None else ""
        return f"{self.backend or self.endpoint_type or 'server'} at {rate}/s{load}"


def is_run(value: object) -> bool:
    """A run of a serving benchmark, by its totals; one of them alone is any tool's."""
    needed = {"duration", "completed", "request_throughput", "total_input_tokens"}
    return isinstance(value, dict) and needed <= value.keys() and ("backend" in value or "endpoint_type" in value)


def load_runs(importer: Importer, source: Source) -> Report:
    """The report of one run, or of all runs of a file.

    Raises:
        ForeignFormatError: a field of the wrong type; the message names the run.
    """
    values = source.value if source.lines or isinstance(source.value, list) else [source.value]
    runs = [parse_element(ServingRun, index, value) for index, value in enumerate(values)]
    names = distinct(run.name for run in runs)
    arms = tuple(_arm(importer.name, name, run) for name, run in zip(names, runs, strict=True))
    samples = max((len(arm.measurements) for arm in arms), default=0)
    models = dict.fromkeys(model_id(run.model_id) for run in runs if run.model_id)
    datasets = dict.fromkeys(f"stated: dataset {run.dataset_name}" for run in runs if run.dataset_name)
    return Report(
        kind="benchmark",
        report_id=report_id(importer.name, source),
        imported=mark(importer.name, source, (*NOTES, *_told(names, runs), *datasets)),
        provenance=Provenance(models=tuple(ModelInfo(role="verifier", id=name) for name in models)),
        workload=WorkloadInfo(name=importer.name, prompts=tuple(PromptRecord(sample=n) for n in range(samples))),
        arms=arms,
    )


def _arm(engine: str, name: str, run: ServingRun) -> Arm:
    rows = tuple(_rows(run))
    rate = run.output_throughput
    stated = StatedRate(value=rate, scope="e2e", statistic="total") if rate is not None and not rows else None
    return Arm(
        name=name, role="peer", engine=engine, measurements=rows, stated_rates=(stated,) if stated is not None else ()
    )


def _rows(run: ServingRun) -> Iterator[Measurement]:
    """One row a request. Lists that are not of one length belong to no request in particular."""
    read, written = run.input_lens, run.output_lens
    if read is None or not isinstance(written, list) or len(read) != len(written):
        return
    seconds, texts = _seconds(run, len(read)), run.generated_texts
    for sample, (prompt, output) in enumerate(zip(read, written, strict=True)):
        took = seconds[sample]
        yield Measurement(
            sample=sample,
            repeat=0,
            prompt_tokens=prompt,
            text=texts[sample] if texts is not None and len(texts) == len(read) else None,
            e2e_s=took if took is not None and took > 0 and output else None,
            decode_tokens=output or None,
        )


def _seconds(run: ServingRun, requests: int) -> Sequence[float | None]:
    """How long each request took; where that is not recorded, until its first token and from one to the next."""
    if run.latencies is not None and len(run.latencies) == requests:
        return run.latencies
    if run.ttfts is None or run.itls is None or not len(run.ttfts) == len(run.itls) == requests:
        return [None] * requests
    return [_sum([first, *rest]) for first, rest in zip(run.ttfts, run.itls, strict=True)]


def _sum(parts: Iterable[float | None]) -> float | None:
    known = list(parts)
    return None if None in known else sum(part for part in known if part is not None)


def _told(names: Sequence[str], runs: Sequence[ServingRun]) -> Iterator[str]:
    for name, run in list(zip(names, runs, strict=True))[:MOST_TOLD]:
        figures = ", ".join(f"{field} {value:g}" for field in TOLD if (value := getattr(run, field)) is not None)
        yield f"stated of {name}: {figures}"
