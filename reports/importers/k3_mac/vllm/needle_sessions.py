"""The predecessor's needle test through a vLLM server on a Mac, kind `vllm_mlx_niah_parallel`: a needle a session.

An early version sends all sessions at once and one alone before them; a later one runs two servers, one of which
batches. A server that did not start, and a request that failed, are in the file, too: neither is a wrong answer.
"""

from collections.abc import Iterator

from reports.importers.base import Foreign, Importer, Source, mark, models_of, of_kind, parse_foreign, report_id
from reports.records.measurement import Arm, Measurement
from reports.records.plan import PlanInfo, PromptRecord, WorkloadInfo
from reports.records.provenance import Package, Provenance
from reports.records.record import Count, Name
from reports.report import Report

KIND = "vllm_mlx_niah_parallel"
EXCERPT = 80
"""Characters of an answer that the tool keeps; one of as many may go on."""

NOTES = (
    "as the tool counts: tokens are what the server says, or words where it says none; a time holds prefill, too",
    "recall is stated over all sessions; a request that failed counts as wrong there, and as no answer here",
    "not recorded: token ids, prefill and decode apart, order, repeats, digests, K/V bytes, controls, an audit",
)


class Config(Foreign):
    """`config`."""

    model_path: str | None = None
    sessions: Count | None = None
    max_new_tokens: Count | None = None


class Session(Foreign):
    """`per_session[]`."""

    session: Count | None = None
    ok: bool
    needle_found: bool
    answer_excerpt: str = ""
    completion_tokens: Count | None = None
    latency_s: float | None = None


class Phase(Foreign):
    """A server and the sessions sent to it at once; of an early file, the file itself."""

    status: str | None = None
    recall: float | None = None
    sessions_ok: Count | None = None
    n1_decode_tps: float | None = None
    aggregate_decode_tps: float | None = None
    per_session: list[Session] | None = None


class SessionsFile(Phase):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    vllm_mlx_version: Name | None = None
    simple_mode: Phase | None = None
    continuous_batching_mode: Phase | None = None

    def phases(self) -> dict[str, Phase]:
        """Every server of the file, by the name that the file gives it."""
        modes = {"simple_mode": self.simple_mode, "continuous_batching_mode": self.continuous_batching_mode}
        return {name: phase for name, phase in modes.items() if phase is not None} or {"sessions": self}


def _load(source: Source) -> Report:
    file = parse_foreign(SessionsFile, source.value)
    config, phases = file.config, file.phases()
    version, most = file.vllm_mlx_version, max(len(phase.per_session or ()) for phase in phases.values())
    return Report(
        kind="niah",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *_told(phases)), file.kind, file.schema_version),
        provenance=Provenance(
            models=models_of({"verifier": config.model_path}),
            packages=(Package(name="vllm-mlx", version=version),) if version is not None else None,
        ),
        workload=WorkloadInfo(name="niah", prompts=tuple(PromptRecord(sample=sample) for sample in range(most))),
        plan=PlanInfo(samples=config.sessions, max_new_tokens=config.max_new_tokens),
        arms=tuple(
            Arm(name=name, role="peer", engine="vllm-mlx", measurements=tuple(_rows(phase)))
            for name, phase in phases.items()
        ),
    )


def _rows(phase: Phase) -> Iterator[Measurement]:
    for sample, session in enumerate(phase.per_session or ()):
        took, whole = session.latency_s, len(session.answer_excerpt) < EXCERPT
        yield Measurement(
            sample=sample,
            repeat=0,
            text=session.answer_excerpt if session.ok and whole else None,
            correct=session.needle_found if session.ok else None,
            decode_tokens=(session.completion_tokens or None) if session.ok else None,
            e2e_s=took if session.ok and took is not None and took > 0 else None,
        )


def _told(phases: dict[str, Phase]) -> Iterator[str]:
    for name, phase in phases.items():
        yield (
            f"stated of {name}: status {phase.status}, recall {phase.recall}, {phase.sessions_ok} answered, "
            f"{phase.aggregate_decode_tps} tokens a second of all, {phase.n1_decode_tps} of one alone"
        )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
