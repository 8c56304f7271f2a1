"""What a report says of its setting that follows from preset, seed, models and code: made again, it is the same."""

import json
from collections.abc import Iterator
from typing import Any

from reports.records.plan import PromptRecord
from reports.records.record import digest_of
from reports.report import Report

_SHORT = 200

_OF_PLAN = {"max_new_tokens", "prefill_chunk", "stop", "samples"}
_OF_WORKLOAD = {"name", "form", "generator_version", "seed", "prompt_style"}
_OF_PROMPTS = tuple(name for name in PromptRecord.model_fields if name != "prompt_set")
_OF_MODEL = {"id", "weights", "config", "tokenizer", "architecture", "layer_types", "quantisation", "dtype", "recipe"}
_OF_ARM = {
    "role", "engine", "system_under_test", "prompt_set", "restoration", "drafter", "decode_loop", "timing_scope",
}  # fmt: skip
_OF_CODEC = {"codec", "path", "codec_k", "codec_v", "scales", "layers"}
_OF_PARITY = {
    "drafter_weights", "reference_runtime", "reference_dtype", "recording", "candidate_runtime", "candidate_dtype",
}  # fmt: skip


def facts_of(report: Report) -> dict[str, str]:
    """Every recorded fact by its field; a value of more than 200 characters by its digest."""
    return {field: _told(value) for field, value in _facts(report)}


def _facts(report: Report) -> Iterator[tuple[str, Any]]:
    workload, models = report.workload, report.provenance.models if report.provenance is not None else ()
    yield from _of("plan", report.plan, _OF_PLAN)
    yield from _of("workload", workload, _OF_WORKLOAD)
    yield from _of("workload.texts", workload.texts if workload is not None else None, {"documents", "digest"})
    prompts = workload.prompts if workload is not None else ()
    for prompt_set in dict.fromkeys(prompt.prompt_set for prompt in prompts):
        own = [prompt for prompt in prompts if prompt.prompt_set == prompt_set]
        for name in _OF_PROMPTS:
            values = [getattr(prompt, name) for prompt in own]
            if any(value is not None for value in values):
                yield f"workload.prompts.{prompt_set}.{name}", values
    for number, model in enumerate(models):
        yield from _of(f"models.{number}.{model.role}", model, _OF_MODEL)
    for arm in report.arms:
        yield from _of(f"arms.{arm.name}", arm, _OF_ARM)
    for codec in report.kv_quant.arms if report.kv_quant is not None else ():
        yield from _of(f"codecs.{codec.name}", codec, _OF_CODEC)
    if report.kind == "parity":
        yield from _of("parity", report.parity, _OF_PARITY)


def _of(part: str, record: Any, fields: set[str]) -> Iterator[tuple[str, Any]]:
    found = record.model_dump(mode="json", include=fields, exclude_none=True) if record is not None else {}
    yield from ((f"{part}.{name}"[:200], value) for name, value in found.items())


def _told(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _SHORT else digest_of(text.encode())
