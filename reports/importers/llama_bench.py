"""`llama-bench -o json` (or jsonl): synthetic prompts, one test an arm, one row a repetition, nothing compared.

A test reads `n_prompt` tokens, then generates `n_gen`; `samples_ns` times both together, so only a test of one kind
tells prefill or decode. `avg_ts` is the mean of the repetitions' rates.
"""

from collections.abc import Iterator
from datetime import datetime

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    distinct,
    mark,
    model_id,
    parse_element,
    report_id,
    require,
)
from reports.records.measurement import Arm, Measurement, StatedRate
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.records.record import Count, Name
from reports.report import Report

NOTES = (
    "every test is an arm of its own; no test is another's baseline, and none is the same work twice",
    "as the tool counts: n_gen tokens are paid for by the time of a generation test, n_depth tokens are cached before",
    "a test of prompt and generation counts the tokens of both, over the time of both",
    "prompts are synthetic token ids: nothing is asked, so there are no texts, token ids or answers",
    "not recorded: order of repetitions between tests, prompt and weight digests, K/V bytes, warm-up shapes",
)


class Test(Foreign):
    """One element of the list."""

    model_filename: str
    n_prompt: Count
    n_gen: Count
    n_depth: Count = 0
    model_type: Name | None = None
    backends: Name | None = None
    type_k: Name | None = None
    type_v: Name | None = None
    n_threads: Count | None = None
    build_commit: str | None = None
    build_number: Count | None = None
    cpu_info: str | None = None
    gpu_info: str | None = None
    test_time: str | None = None
    avg_ts: float | None = None
    samples_ns: list[Count] | None = None

    @property
    def label(self) -> str:
        """As llama-bench itself names the test."""
        parts = [f"pp{self.n_prompt}"] if self.n_prompt else []
        parts += [f"tg{self.n_gen}"] if self.n_gen else []
        depth = f"@d{self.n_depth}" if self.n_depth else ""
        return ("+".join(parts) or "empty") + depth


def _recognises(source: Source) -> bool:
    tests = source.value if isinstance(source.value, list) else [source.value] if _is_test(source.value) else []
    return any(_is_test(test) for test in tests)


def _is_test(value: object) -> bool:
    if not isinstance(value, dict) or "model_filename" not in value:
        return False
    return bool({"avg_ts", "avg_ns", "samples_ns"} & value.keys())


def _load(source: Source) -> Report:
    values = source.value if isinstance(source.value, list) else [source.value]
    tests = [_parse(index, value) for index, value in enumerate(values)]
    models = dict.fromkeys(model_id(test.model_filename) for test in tests)
    backends = {test.backends for test in tests}
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        created_at=min(filter(None, map(_time, tests)), default=None),
        imported=mark(IMPORTER.name, source, _notes(tests)),
        provenance=Provenance(
            models=tuple(ModelInfo(role="verifier", id=name) for name in models),
            device=backends.pop() if len(backends) == 1 else None,
        ),
        workload=WorkloadInfo(
            name=IMPORTER.name,
            prompts=tuple(PromptRecord(sample=sample, token_count=test.n_prompt) for sample, test in enumerate(tests)),
        ),
        plan=PlanInfo(samples=1),
        arms=tuple(
            _arm(sample, test, name) for sample, (test, name) in enumerate(zip(tests, _names(tests), strict=True))
        ),
    )


def _parse(index: int, value: object) -> Test:
    test = parse_element(Test, index, value)
    require(test.n_prompt + test.n_gen > 0, f"{index}.n_gen: a test of no tokens")
    return test


def _names(tests: list[Test]) -> list[str]:
    """Names of the arms: the label, with the model where there are several."""
    several = len({test.model_filename for test in tests}) > 1
    return distinct(f"{test.label} {model_id(test.model_filename)}" if several else test.label for test in tests)


def _arm(sample: int, test: Test, name: str) -> Arm:
    scope = "prefill" if not test.n_gen else "decode" if not test.n_prompt else "prompt_and_output"
    return Arm(
        name=name,
        role="peer",
        engine=IMPORTER.name,
        measurements=tuple(_row(sample, repeat, test, ns / 1e9) for repeat, ns in enumerate(test.samples_ns or ())),
        stated_rates=(
            (StatedRate.model_validate({"value": test.avg_ts, "scope": scope, "statistic": "mean"}),)
            if test.avg_ts is not None
            else ()
        ),
    )


def _row(sample: int, repeat: int, test: Test, seconds: float) -> Measurement:
    only_prompt, only_generation = not test.n_gen, not test.n_prompt
    return Measurement(
        sample=sample,
        repeat=repeat,
        prompt_tokens=test.n_prompt,
        prefill_s=seconds if only_prompt else None,
        decode_s=seconds if only_generation else None,
        e2e_s=seconds if not only_prompt and not only_generation else None,
        decode_tokens=test.n_gen or None,
    )


def _time(test: Test) -> datetime | None:
    try:
        time = datetime.fromisoformat(test.test_time or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def _notes(tests: list[Test]) -> Iterator[str]:
    yield from NOTES
    builds = sorted({f"{test.build_commit} ({test.build_number})" for test in tests})
    yield f"stated: build {', '.join(builds)}"
    for field in ("model_type", "cpu_info", "gpu_info", "type_k", "type_v", "n_threads"):
        values = sorted({str(getattr(test, field)) for test in tests if getattr(test, field) is not None})
        if values:
            yield f"stated: {field} {', '.join(values)}"


IMPORTER = Importer("llama-bench", _recognises, _load)
