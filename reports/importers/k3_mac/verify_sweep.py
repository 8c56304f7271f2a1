"""The predecessor's sweep of the verify step, kind `verify_l_sweep_mac`: seconds of one forward over L tokens.

Every L is an arm of its own, with a row for every repetition. Nothing is drafted and no token comes out.
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    distinct,
    mark,
    models_of,
    of_kind,
    parse_foreign,
    report_id,
    require,
)
from reports.records.measurement import Arm, Measurement, Speculation
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import Provenance
from reports.records.record import Count, Seconds
from reports.report import Report

KIND = "verify_l_sweep_mac"
MOST_TOLD = 20
"""Lengths whose stated figures notes keep."""

NOTES = (
    "a row is one forward over random token ids behind a prefilled cache, rolled back after it; nothing is decoded",
    "headroom is stated as L times the median of one token over the median of L; it is an upper bound, no speed-up",
    "not recorded: tokens, order of runs, warm-up rows, digests, K/V bytes, a baseline that decodes",
)


class Config(Foreign):
    """`config`."""

    verifier_path: str | None = None
    context_len: Count | None = None
    reps: Count | None = None


class Length(Foreign):
    """`rows[]`: L tokens in one forward."""

    tokens: Annotated[Count, Field(alias="L", ge=1)]
    verify_s_median: Seconds | None = None
    verify_s_samples: list[Seconds] | None = None
    expert_union_ratio: float | None = None
    measured_headroom: float | None = None


class SweepFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    rows: list[Length]


def _load(source: Source) -> Report:
    file = parse_foreign(SweepFile, source.value)
    config = file.config
    require(bool(file.rows), "rows: none")
    names = distinct(f"verify {row.tokens}" for row in file.rows)
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *_told(file)), file.kind, file.schema_version),
        provenance=Provenance(models=models_of({"verifier": config.verifier_path})),
        workload=WorkloadInfo(name=KIND, prompts=(PromptRecord(sample=0, token_count=config.context_len),)),
        plan=PlanInfo(repeats=config.reps),
        arms=tuple(_arm(name, row) for name, row in zip(names, file.rows, strict=True)),
    )


def _arm(name: str, row: Length) -> Arm:
    rows = tuple(
        Measurement(sample=0, repeat=repeat, speculation=Speculation(verify_s=seconds))
        for repeat, seconds in enumerate(row.verify_s_samples or ())
    )
    return Arm(name=name, role="peer", engine="verify-forward", measurements=rows)


def _told(file: SweepFile) -> Iterator[str]:
    for row in file.rows[:MOST_TOLD]:
        yield (
            f"stated of {row.tokens} tokens: median {row.verify_s_median} s, headroom {row.measured_headroom}, "
            f"experts used {row.expert_union_ratio} of those that no two tokens share"
        )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
