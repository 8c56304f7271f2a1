"""`sglang.bench_serving` (JSONL, a run a line); `--output-details` adds the requests. The model is not recorded."""

from reports.importers.base import Importer, Source
from reports.importers.serving.requests import is_run, load_runs
from reports.report import Report


def _recognises(source: Source) -> bool:
    runs = source.value if source.lines else [source.value]
    return any(is_run(run) and "model_id" not in run and "total_output_tokens_retokenized" in run for run in runs)


def _load(source: Source) -> Report:
    return load_runs(IMPORTER, source)


IMPORTER = Importer("sglang-serving", _recognises, _load)
