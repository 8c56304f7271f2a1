"""The predecessor's fused chat, kind `mac_gemma4_kakeya_fused_chat`: one arm, one row a turn, no oracle."""

from reports.engines import FUSED
from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    mark,
    model_id,
    models_of,
    of_kind,
    parse_foreign,
    report_id,
)
from reports.importers.k3_mac.observed import restoration_active
from reports.records.measurement import Arm, DrafterInfo, Measurement, Restoration, Speculation
from reports.records.plan import WorkloadInfo
from reports.records.provenance import Provenance
from reports.records.record import Bytes, Count
from reports.report import Report

KIND = "mac_gemma4_kakeya_fused_chat"
ARM = "fused_chat"
NOTES = (
    "derived: restoration_active is unknown, since no restoration time is recorded; f_theta_ran is kept as stated",
    "as the tool counts: decode_tokens are all tokens of the turn",
    "mean_accept_len is read as bonus and accepted drafts; no loop is named",
    "fallbacks are stated for the whole run and stand on every row",
    "resident_kv_bytes stand at the end of decode; how and when they were read is not recorded",
    "not recorded: an oracle, prefill and end-to-end times, prompt lengths, token ids, the prompts of earlier turns",
)


class Turn(Foreign):
    """`turns[]`."""

    text: str | None = None
    tokens: Count | None = None
    blocks: Count | None = None
    mean_accept_len: float | None = None
    f_theta_ran: bool | None = None
    decode_s: float | None = None
    decode_tps: float | None = None
    resident_kv_bytes: Bytes | None = None


class ChatFile(Foreign):
    """A whole file."""

    kind: str
    schema_version: Count | None = None
    model_path: str | None = None
    drafter_id: str | None = None
    f_theta_dir: str | None = None
    sink: Count | None = None
    window: Count | None = None
    block_size: Count | None = None
    exact_layers: list[Count] | None = None
    f_theta_intended: bool | None = None
    fallbacks_taken: list[str] | None = None
    turns: list[Turn]


def _load(source: Source) -> Report:
    file = parse_foreign(ChatFile, source.value)
    models = models_of({"verifier": file.model_path, "drafter": file.drafter_id, "f_theta": file.f_theta_dir})
    drafter = file.drafter_id
    arm = Arm(
        name=ARM,
        role="sut",
        engine=FUSED.name,
        restoration=_restoration(file),
        drafter=DrafterInfo(name=model_id(drafter), block_size=file.block_size) if drafter is not None else None,
        measurements=tuple(_row(file, sample, turn) for sample, turn in enumerate(file.turns)),
    )
    return Report(
        kind="chat",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES, file.kind, file.schema_version),
        provenance=Provenance(models=models),
        workload=WorkloadInfo(name="chat"),
        arms=(arm,),
    )


def _restoration(file: ChatFile) -> Restoration | None:
    if file.f_theta_intended is None:
        return None
    return Restoration(
        mode="f_theta" if file.f_theta_intended else "none",
        exact_layers=tuple(sorted(file.exact_layers)) if file.exact_layers is not None else None,
        sink=file.sink,
        window=file.window,
    )


def _row(file: ChatFile, sample: int, turn: Turn) -> Measurement:
    stated = turn.mean_accept_len is not None
    return Measurement(
        sample=sample,
        repeat=0,
        text=turn.text,
        restoration_active=restoration_active(turn.f_theta_ran, None, None, aux_s=None, blocks=turn.blocks),
        decode_s=turn.decode_s,
        decode_tokens=turn.tokens,
        stated_decode_tok_s=turn.decode_tps,
        kv_bytes_decode=turn.resident_kv_bytes,
        fallbacks=tuple(file.fallbacks_taken) if file.fallbacks_taken is not None else None,
        speculation=Speculation(
            blocks=turn.blocks,
            mean_accept_len=turn.mean_accept_len,
            accept_len_counts="bonus_and_accepted" if stated else None,
        ),
        stated_restoration_active=turn.f_theta_ran,
    )


IMPORTER = Importer("k3-mac", of_kind(KIND), _load, versioned=True)
