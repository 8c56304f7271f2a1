"""llama-benchy (JSON): llama-bench's tests put to a server over HTTP, each at one prompt and response size, context
depth and concurrency, with the rates of every repetition."""

from collections.abc import Iterator

from reports.importers.base import Foreign, Importer, Source, distinct, mark, model_id, parse_foreign, report_id
from reports.records.measurement import Arm, Measurement, StatedRate
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.records.record import Count, Name
from reports.report import Report

NOTES = (
    "every test is an arm of its own, every repetition a row; with a concurrency over 1 a rate is that of all requests",
    "rates are stated; tokens and seconds behind them are not recorded, and sizes are what was asked for",
    "not recorded: texts, token ids, answers, a baseline, prompt and weight digests, order of tests, the engine",
)


class Rates(Foreign):
    """Of one kind, over the repetitions."""

    mean: float | None = None
    values: list[float | None] | None = None


class Test(Foreign):
    """`benchmarks[]`."""

    concurrency: Count
    context_size: Count
    prompt_size: Count
    response_size: Count
    is_context_prefill_phase: bool = False
    pp_throughput: Rates | None = None
    tg_throughput: Rates | None = None

    @property
    def label(self) -> str:
        """As the tool prints the test."""
        depth = f"@d{self.context_size}" if self.context_size else ""
        phase = " context" if self.is_context_prefill_phase else ""
        return f"pp{self.prompt_size}+tg{self.response_size}{depth} c{self.concurrency}{phase}"


class BenchyFile(Foreign):
    """A whole file."""

    version: Name
    model: str
    latency_mode: Name
    latency_ms: float | None = None
    prefix_caching_enabled: bool | None = None
    benchmarks: list[Test]


def _recognises(source: Source) -> bool:
    return isinstance(source.value, dict) and {"benchmarks", "latency_mode", "model"} <= source.value.keys()


def _load(source: Source) -> Report:
    file = parse_foreign(BenchyFile, source.value)
    names = distinct(test.label for test in file.benchmarks)
    stated = f"stated: version {file.version}, latency {file.latency_ms} ms ({file.latency_mode})"
    cached = f"stated: prefix caching {file.prefix_caching_enabled}"
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, stated, cached)),
        provenance=Provenance(models=(ModelInfo(role="verifier", id=model_id(file.model)),)),
        workload=WorkloadInfo(
            name=IMPORTER.name,
            prompts=tuple(
                PromptRecord(sample=sample, token_count=test.context_size + test.prompt_size)
                for sample, test in enumerate(file.benchmarks)
            ),
        ),
        arms=tuple(
            _arm(sample, name, test) for sample, (name, test) in enumerate(zip(names, file.benchmarks, strict=True))
        ),
    )


def _arm(sample: int, name: str, test: Test) -> Arm:
    decode = test.tg_throughput.values if test.tg_throughput is not None else None
    return Arm(
        name=name,
        role="peer",
        engine=IMPORTER.name,
        measurements=tuple(
            Measurement(
                sample=sample,
                repeat=repeat,
                prompt_tokens=test.context_size + test.prompt_size,
                stated_decode_tok_s=rate,
            )
            for repeat, rate in enumerate(decode or ())
        ),
        stated_rates=tuple(_stated(test)),
    )


def _stated(test: Test) -> Iterator[StatedRate]:
    if test.pp_throughput is not None and test.pp_throughput.mean is not None:
        yield StatedRate(value=test.pp_throughput.mean, scope="prefill", statistic="mean")
    if test.tg_throughput is not None and test.tg_throughput.mean is not None:
        yield StatedRate(value=test.tg_throughput.mean, scope="decode", statistic="mean")


IMPORTER = Importer("llama-benchy", _recognises, _load)
