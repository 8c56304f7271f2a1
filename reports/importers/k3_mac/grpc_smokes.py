"""The predecessor's smokes of its session runtime, kinds `grpc_generator_smoke`, `_appender_`, `_runtime_`."""

from reports.importers.base import Foreign, Importer, Source, mark, of_kind, parse_foreign, report_id
from reports.importers.k3_mac.told_host import ToldHost
from reports.records.claims import SmokeClaim
from reports.records.conduct.runtime_smoke import RuntimeSmoke, SmokeStep
from reports.records.provenance import Provenance
from reports.records.record import Count
from reports.report import Report
from reports.untrusted.one_line import one_line

KINDS = ("grpc_generator_smoke", "grpc_appender_smoke", "grpc_runtime_smoke")
NOTES = (
    "not recorded: model, engine, token ids, histories; a stand-in for the model may have answered",
    "steps and statuses are named as the tool names them; frames and details are not taken over",
)


class Step(Foreign):
    """`steps[]`."""

    step: str
    expected: str
    observed: str
    passed: bool | None = None
    elapsed_ms: float | None = None


class SmokeFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    host: ToldHost | None = None
    steps_total: Count | None = None
    steps_passed: Count | None = None
    steps: list[Step]


def _load(source: Source) -> Report:
    file = parse_foreign(SmokeFile, source.value)
    total, passed = file.steps_total, file.steps_passed
    claim = None
    if total and passed is not None:
        claim = SmokeClaim(
            name=f"smoke_steps/{file.kind}",
            metric="smoke_steps",
            value=passed / total,
            arm=file.kind,
            status="claimed",
        )
    return Report(
        kind="runtime_smoke",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES, file.kind, file.schema_version),
        provenance=Provenance(host=file.host.record()) if file.host is not None else None,
        runtime_smoke=RuntimeSmoke(
            server="started",
            steps=tuple(map(_step, file.steps)),
            stated_passed=passed,
        ),
        claims=(claim,) if claim is not None else (),
    )


def _step(step: Step) -> SmokeStep:
    words = {name: one_line(getattr(step, name), 200) or "none" for name in ("step", "expected", "observed")}
    return SmokeStep.model_validate(words | {"elapsed_ms": step.elapsed_ms or 0.0})


IMPORTER = Importer("k3-mac", of_kind(*KINDS), _load, versioned=True)
