"""Results of EleutherAI's lm-evaluation-harness (`results_*.json`): scores on tasks, nothing of speed."""

from collections.abc import Iterator

from reports.importers.base import Importer, Source, mark, model_id, report_id
from reports.records.measurement import Arm
from reports.records.plan import WorkloadInfo
from reports.records.provenance import ModelInfo, Provenance
from reports.report import Report
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import Json

NOTES = (
    "scores of tasks are no recall: the answers are not in this file, nor a control that could fail",
    "not recorded: answers of a sample, token ids, times, K/V bytes, digests of weights, a second run",
)
MOST_SCORES = 200
"""Stated scores that notes keep; a group like MMLU has 60 tasks of two scores."""


def _recognises(source: Source) -> bool:
    value = source.value
    return isinstance(value, dict) and isinstance(value.get("results"), dict) and {"versions", "n-shot"} <= value.keys()


def _load(source: Source) -> Report:
    value = source.value
    config = value.get("config") if isinstance(value.get("config"), dict) else {}
    names = (value.get("model_name"), _pretrained(config.get("model_args")), config.get("model"))
    model = next((name for name in names if isinstance(name, str) and name), None)
    versions = [f"stated: {key} {value[key]}" for key in ("git_hash", "transformers_version") if value.get(key)]
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *versions, *list(_scores(value["results"]))[:MOST_SCORES])),
        provenance=Provenance(models=(ModelInfo(role="verifier", id=model_id(model)),) if model is not None else ()),
        workload=WorkloadInfo(name=IMPORTER.name),
        arms=(Arm(name=model_id(model or "model"), role="peer", engine=IMPORTER.name, measurements=()),),
    )


def _pretrained(arguments: Json) -> str | None:
    """The model among the arguments, which are an object or `name=value` with commas between."""
    if isinstance(arguments, dict):
        name = arguments.get("pretrained", arguments.get("model"))
        return name if isinstance(name, str) else None
    parts = arguments.split(",") if isinstance(arguments, str) else []
    named = (part.partition("=")[2] for part in parts if part.startswith(("pretrained=", "model=")))
    return next(named, None)


def _scores(results: dict[str, Json]) -> Iterator[str]:
    for task, scores in results.items():
        for name, score in scores.items() if isinstance(scores, dict) else ():
            if isinstance(score, int | float) and not isinstance(score, bool) and "_stderr" not in name:
                yield f"stated: {one_line(task, 80)}, {one_line(name, 80)}: {score:.6g}"


IMPORTER = Importer("lm-eval", _recognises, _load)
