"""The predecessor's drafter parity, kind `k3_mlx_drafter_parity`: the MLX drafter against the torch one."""

from reports.importers.base import Foreign, Importer, Source, mark, models_of, of_kind, parse_foreign, report_id
from reports.records.claims import ParityClaim
from reports.records.drafter_parity import ParityBlock, ParityResult
from reports.records.plan import PlanInfo, WorkloadInfo
from reports.records.provenance import Provenance
from reports.records.record import Count, Fraction, TokenId
from reports.report import Report

KIND = "k3_mlx_drafter_parity"
CANDIDATE = "mlx"
REFERENCE = "torch"
NOTES = (
    "not recorded: weight digest, dtypes of the two runtimes, the contexts themselves",
    "matches, agreed_tokens and total_tokens are not taken over; the blocks say them again",
)


class Config(Foreign):
    """`config`."""

    verifier_path: str | None = None
    drafter_id: str | None = None
    n_samples: Count | None = None
    seed: Count | None = None
    min_agreement: float | None = None


class Block(Foreign):
    """`samples[].blocks[]`: the same block proposed by both runtimes."""

    mlx_tokens: list[TokenId]
    torch_tokens: list[TokenId]


class Sample(Foreign):
    """`samples[]`; the context is the prompt."""

    sample: Count
    context_len: Count
    blocks: list[Block]


class ParityFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    config: Config
    agreement: Fraction | None = None
    samples: list[Sample]
    passed: bool | None = None


def _load(source: Source) -> Report:
    file = parse_foreign(ParityFile, source.value)
    config = file.config
    models = models_of({"verifier": config.verifier_path, "drafter": config.drafter_id})
    claim = ParityClaim(
        name=f"drafter_parity/{CANDIDATE}",
        metric="drafter_parity",
        value=file.agreement or 0.0,
        arm=CANDIDATE,
        status="claimed",
    )
    stated = f"stated: passed {file.passed}, min_agreement {config.min_agreement}"
    return Report(
        kind="parity",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, stated), file.kind, file.schema_version),
        provenance=Provenance(models=models),
        workload=WorkloadInfo(name="parity", seed=config.seed),
        plan=PlanInfo(samples=config.n_samples),
        parity=ParityResult(
            reference_runtime=REFERENCE,
            candidate_runtime=CANDIDATE,
            blocks=tuple(
                ParityBlock(
                    sample=sample.sample,
                    block=index,
                    context_tokens=sample.context_len,
                    reference_tokens=tuple(block.torch_tokens),
                    candidate_tokens=tuple(block.mlx_tokens),
                )
                for sample in file.samples
                for index, block in enumerate(sample.blocks)
            ),
            stated_agreement=file.agreement,
        ),
        claims=(claim,) if file.agreement is not None else (),
    )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
