"""What was measured: one row per (arm, sample, repeat, process), the arm it belongs to, and the audit of its stream."""

from typing import Literal

from pydantic import Field

from reports.records.constants import LEAST_PAUSE_S
from reports.records.provenance import Package, PluginInfo
from reports.records.record import Bytes, Count, Digest, Fraction, Name, Record, Seconds, TokenId
from reports.restorations import RestorationMode

Role = Literal["oracle", "null", "sut", "control", "peer"]
StopReason = Literal["eos", "turn_end", "length"]
PromptSet = Literal["main", "needle_free", "second_question", "held_out"]


class Restoration(Record):
    """How an arm treats the K/V outside sink + window."""

    mode: RestorationMode
    exact_layers: tuple[Count, ...] | None = Field(None, description="Layers that keep all their own K/V, ascending")
    sink: Count | None = None
    window: Count | None = None
    eviction: Literal["strict", "after"] | None = Field(
        None,
        description="strict: a query never sees evicted K/V; after: evicted once the whole prompt was read",
    )
    residency: Literal["resident", "transient"] | None = None
    weights: Digest | None = Field(None, description="Digest of the f_theta; none for modes without weights")
    feature_bytes: Bytes | None = Field(
        None, description="Bytes of proposer features kept for each position, counted with the K/V"
    )


class DrafterInfo(Record):
    """The proposer of a fused arm, as loaded."""

    name: Name
    weights: Digest | None = Field(None, description="Digest of the drafter's weights; none for prompt lookup")
    runtime: Name | None = None
    dtype: Name | None = None
    bits: Count | None = Field(
        None, description="Its weights were rounded to these on load (affine, groups of 64, kept dense)"
    )
    block_size: Count | None = None
    sure: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="It proposed only drafts that are right together by this chance, by its own reckoning, and rested "
        "where it was unsure or wrong",
    )
    rollback: Name | None = None
    graph: Literal["two_phase", "single"] | None = None


class BlockRecord(Record):
    """One draft + verify round.

    `accepted` drafts matched the verifier's greedy choice and were emitted; `committed` adds the verifier's own
    token, so it is `accepted + 1`, less only in the last block of a stream that stopped inside it.
    """

    drafted: Count
    accepted: Count
    committed: Count
    draft_s: Seconds
    verify_s: Seconds
    extend_s: Seconds
    rollback_s: Seconds
    seconds: Seconds = Field(description="Wall time of the whole block")


class Speculation(Record):
    """Totals of a row's speculative decoding; `rounds` are the blocks they must add up from."""

    blocks: Count | None = None
    drafted: Count | None = None
    accepted: Count | None = None
    committed: Count | None = None
    mean_accept_len: float | None = Field(None, description="As stated by the tool; see accept_len_counts")
    accept_len_counts: Literal["committed", "bonus_and_accepted", "accepted"] | None = None
    draft_s: Seconds | None = None
    verify_s: Seconds | None = None
    extend_s: Seconds | None = None
    rollback_s: Seconds | None = None
    rounds: tuple[BlockRecord, ...] | None = None


class RoundTrip(Record):
    """Of the times of a row, those that the server does not account for: messages, waiting, and sessions made."""

    prefill_s: Seconds
    decode_s: Seconds


class ServedBy(Record):
    """Who ran an arm in another process, as it told; nothing of it was seen."""

    protocol: Name
    device: Name | None = None
    packages: tuple[Package, ...] = ()
    plugins: tuple[PluginInfo, ...] | None = Field(
        None, description="Of other packages: its engine and drafter; none where both ship"
    )
    token_ids: Literal["told", "read_back"] | None = Field(
        None, description="read_back: the server sends text alone, which the verifier's tokenizer read"
    )


class Measurement(Record):
    """One arm on one sample, once."""

    sample: Count
    repeat: Count = Field(description="Within the process")
    process: Count = Field(0, description="Each process loads the models anew and runs the whole plan once")
    order: Count | None = Field(None, description="Position among all timed runs of the report, from 0")
    prompt_digest: Digest | None = None
    prompt_tokens: Count | None = None
    token_ids: tuple[TokenId, ...] | None = Field(None, description="Emitted tokens, the first from prefill")
    text: str | None = None
    correct: bool | None = Field(None, description="Scored by the workload; none where recall does not apply")
    stop_reason: StopReason | None = None
    restoration_active: bool | None = Field(None, description="K/V were put back at evicted positions in this row")
    restored_positions: Count | None = Field(None, description="(layer, position) pairs written by restoration")
    evicted_positions: Count | None = Field(None, description="(layer, position) pairs whose own K/V were dropped")
    restoration_s: Seconds | None = None
    aux_s: Seconds | None = Field(None, description="Capture of auxiliary features during prefill")
    prefill_s: Seconds | None = Field(None, description="Prompt to first token known, restoration and aux excluded")
    decode_s: Seconds | None = Field(None, description="First token known to last token known, drafting included")
    e2e_s: Seconds | None = None
    round_trip: RoundTrip | None = Field(
        None, description="Of prefill_s and decode_s, where another process ran the arm; both are the client's clocks"
    )
    served_tokens: Count | None = Field(
        None, description="Tokens that the server of another project says it generated; none where it does not say"
    )
    decode_tokens: Count | None = Field(None, description="Tokens that decode_s paid for: all but the first")
    kv_bytes_prefill: Bytes | None = Field(None, description="K/V resident at the end of prefill, from the arrays")
    kv_bytes_decode: Bytes | None = Field(None, description="K/V resident at the end of decode, from the arrays")
    drafter_bytes_prefill: Bytes | None = Field(
        None, description="Of kv_bytes_prefill, what the context of the arm's drafter holds"
    )
    peak_bytes: Bytes | None = None
    fallbacks: tuple[str, ...] | None = None
    decode_loop: Name | None = Field(None, description="The loop that decoded this row")
    speculation: Speculation | None = None
    stated_restoration_active: bool | None = Field(None, description="Imports: the tool's own flag, kept beside ours")
    stated_decode_tok_s: float | None = Field(
        None, description="Imports: a decode rate printed without the tokens and seconds behind it"
    )


class Pause(Record):
    """What broke a timed run: the machine slept, or the process was stopped and went on."""

    asleep_s: Seconds = Field(description="What a clock that counts sleep went on more than one that does not")
    stops: Count = Field(description="Times the process was told to go on after a stop (SIGCONT)")

    @property
    def broke(self) -> bool:
        """It was long enough to be one."""
        return self.stops > 0 or self.asleep_s >= LEAST_PAUSE_S


class PausedRow(Record):
    """A row with a pause in it. It was measured again: its place among the timed runs is that of the second one."""

    row: Measurement
    pause: Pause


class Mismatch(Record):
    """An emitted token that is not the verifier's argmax given its own prefix."""

    position: Count = Field(description="Index into token_ids")
    emitted: TokenId
    argmax: TokenId
    gap: float = Field(description="Logit of the argmax minus logit of the emitted token")


class AuditedStream(Record):
    """One distinct stream, checked teacher-forced in one untimed forward over prompt + output."""

    sample: Count
    repeat: Count
    process: Count = 0
    tokens_checked: Count
    mismatches: tuple[Mismatch, ...]


class StreamAudit(Record):
    """The audit of an arm's streams, against the verifier with its native, unbounded attention."""

    reference: Literal["verifier_native"]
    streams: tuple[AuditedStream, ...]


class StatedRate(Record):
    """Imports: tokens a second that a tool printed for a whole arm; the gate derives it from the rows."""

    value: float
    scope: Literal["prefill", "decode", "e2e", "prompt_and_output"] = Field(
        description="prompt_and_output: tokens read and emitted, over the time of both; e2e: emitted ones alone"
    )
    statistic: Literal["mean", "median", "total"] = Field(
        description="mean, median: of the rows' rates; total: all tokens over all seconds"
    )


class Arm(Record):
    """One engine configuration measured in a run."""

    name: Name
    role: Role
    engine: Name
    system_under_test: Name | None = Field(None, description="What the arm is presented as")
    prompt_set: PromptSet = "main"
    restoration: Restoration | None = None
    drafter: DrafterInfo | None = None
    decode_loop: Name | None = None
    timing_scope: Literal["stages", "e2e_prefill_plus_decode", "client_stream"] | None = Field(
        None,
        description="stages: prefill and decode timed apart by the same events in every arm; client_stream: from the "
        "request to the first piece of a stream that comes over the network, and from there to its end",
    )
    measurements: tuple[Measurement, ...]
    warm_ups: tuple[Measurement, ...] | None = Field(
        None,
        description="Rows measured before the timed ones of each process, with no place among them: they count for "
        "nothing but that the arm was warm; none in reports from before warm-ups were rows",
    )
    paused: tuple[PausedRow, ...] | None = Field(
        None, description="Rows that count for nothing, since a pause broke them; none if nobody watched for pauses"
    )
    served_by: ServedBy | None = None
    stream_audit: StreamAudit | None = None
    stated_acceptance: Fraction | None = Field(None, description="Imports: an acceptance the tool printed")
    stated_rates: tuple[StatedRate, ...] = ()
