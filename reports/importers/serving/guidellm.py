"""GuideLLM's `benchmarks.json`: one benchmark a load (strategy and rate), with distributions and, by its version, the
requests. Names of fields changed between versions; what is not found under any of them stays absent."""

from collections.abc import Iterator, Sequence

from reports.importers.base import Foreign, Importer, Source, distinct, mark, model_id, parse_foreign, report_id
from reports.importers.serving.requests import MOST_TOLD
from reports.records.measurement import Arm, Measurement, StatedRate
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.report import Report
from reports.untrusted.strict_json import Json

NOTES = (
    "as the tool counts: a request's time holds waiting, prefill and the network; its tokens are all it emitted",
    "one arm a load; requests that failed or were cut off are left out, as the tool's own figures leave them out",
    "not recorded: token ids, correctness, prefill and decode apart, a baseline, digests, K/V bytes, the engine",
)


class Request(Foreign):
    """One of the requests that succeeded."""

    prompt_tokens: float | None = None
    output_tokens: float | None = None
    request_latency: float | None = None
    output: str | None = None


class Distribution(Foreign):
    """Of one metric over the requests that succeeded."""

    mean: float | None = None


class Metric(Foreign):
    """By how requests ended; the others are not read."""

    successful: Distribution | None = None


class Metrics(Foreign):
    """`benchmarks[].metrics`."""

    output_tokens_per_second: Metric | None = None
    requests_per_second: Metric | None = None
    time_to_first_token_ms: Metric | None = None
    inter_token_latency_ms: Metric | None = None


TOLD = tuple(Metrics.model_fields)


def _recognises(source: Source) -> bool:
    runs = source.value.get("benchmarks") if isinstance(source.value, dict) else None
    first = runs[0] if isinstance(runs, list) and runs else None
    metrics = first.get("metrics") if isinstance(first, dict) else None
    return isinstance(metrics, dict) and bool(metrics.keys() & TOLD)


def _load(source: Source) -> Report:
    runs = source.value["benchmarks"]
    names = distinct(_name(run) for run in runs)
    metrics = [parse_foreign(Metrics, _at(run, "metrics") or {}) for run in runs]
    arms = tuple(_arm(name, run, stated) for name, run, stated in zip(names, runs, metrics, strict=True))
    samples = max((len(arm.measurements) for arm in arms), default=0)
    models = dict.fromkeys(model_id(name) for holder in (source.value, *runs) for name in _models(holder))
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *_told(names, metrics))),
        provenance=Provenance(models=tuple(ModelInfo(role="verifier", id=name) for name in models)),
        workload=WorkloadInfo(name=IMPORTER.name, prompts=tuple(PromptRecord(sample=n) for n in range(samples))),
        arms=arms,
    )


def _at(value: Json, *path: str) -> Json:
    """What stands under these keys; none where one is missing or no object."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _name(run: Json) -> str:
    """The load, as whichever version of the tool describes it."""
    holders = [_at(run, *path) for path in (("config", "strategy"), ("args", "strategy"), ("scheduler", "strategy"))]
    strategy = next((one for one in holders if isinstance(one, dict)), {})
    kind, rate = strategy.get("type_") or strategy.get("kind") or "load", strategy.get("rate")
    return f"{kind} at {rate:g}/s" if isinstance(rate, int | float) else str(kind)


def _models(holder: Json) -> Iterator[str]:
    for path in (("args", "model"), ("config", "model"), ("benchmarker", "backend", "model")):
        name = _at(holder, *path)
        if isinstance(name, str) and name:
            yield name


def _arm(name: str, run: Json, metrics: Metrics) -> Arm:
    found = _at(run, "requests", "successful") or _at(run, "successful_requests") or []
    rows = tuple(_rows([parse_foreign(Request, one) for one in found])) if isinstance(found, list) else ()
    stated = metrics.output_tokens_per_second
    rate = stated.successful.mean if stated is not None and stated.successful is not None else None
    shown = (StatedRate(value=rate, scope="e2e", statistic="total"),) if rate is not None and not rows else ()
    return Arm(name=name, role="peer", engine=IMPORTER.name, measurements=rows, stated_rates=shown)


def _rows(requests: Sequence[Request]) -> Iterator[Measurement]:
    for sample, one in enumerate(requests):
        took = one.request_latency
        yield Measurement(
            sample=sample,
            repeat=0,
            prompt_tokens=_whole(one.prompt_tokens),
            text=one.output,
            e2e_s=took if took is not None and took > 0 else None,
            decode_tokens=_whole(one.output_tokens),
        )


def _whole(count: float | None) -> int | None:
    """A count; the tool's means and estimates are none."""
    return int(count) if count is not None and 0 < count <= 2**53 and count == int(count) else None


def _told(names: Sequence[str], metrics: Sequence[Metrics]) -> Iterator[str]:
    for name, one in list(zip(names, metrics, strict=True))[:MOST_TOLD]:
        found = ((field, getattr(one, field)) for field in TOLD)
        means = [
            f"{field} {metric.successful.mean:g}"
            for field, metric in found
            if metric is not None and metric.successful is not None and metric.successful.mean is not None
        ]
        yield f"stated of {name}, means: {', '.join(means)}"


IMPORTER = Importer("guidellm", _recognises, _load)
