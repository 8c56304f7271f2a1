"""`vllm bench serve --save-result` (JSON), or `--append-result` (a run a line); `--save-detailed` adds the requests."""

from reports.importers.base import Importer, Source
from reports.importers.serving.requests import is_run, load_runs
from reports.report import Report


def _recognises(source: Source) -> bool:
    runs = source.value if source.lines else [source.value]
    return any(is_run(run) and "model_id" in run for run in runs)


def _load(source: Source) -> Report:
    return load_runs(IMPORTER, source)


IMPORTER = Importer("vllm-serving", _recognises, _load)
