"""A recorded reference under judgement: held, block by block, to the recording that ships with K3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from gate.rulebook.rule import Fault
from reports.drafters import RECORDED

if TYPE_CHECKING:
    from reports.records.drafter_parity import ParityBlock, ParityResult
    from reports.records.recorded_drafts import RecordedDrafts, RecordedStream
    from reports.report import Report

BLOCKS = "parity.blocks"
"""Where a parity report is at fault."""

SHIPPED = "a recording that ships with K3"

REFERENCE_KIND = "reference.kind"
"""The setting of a preset that says of what kind the reference is."""


def recording_faults(report: Report) -> Iterator[Fault]:
    """Why the reference is not the recording it is said to be: what is wrong, the figure found and the one allowed."""
    parity = report.parity
    if parity is None:
        return
    if parity.recording is None:
        yield from _never_ran(report, parity)
        return
    from reports.records.recorded_drafts import shipped_recordings

    digest = parity.recording.digest
    recorded = shipped_recordings().get(digest)
    if recorded is None:
        yield Fault(
            BLOCKS, f"the reference was recorded in {digest[:23]}, which does not ship with K3", digest[:23], SHIPPED
        )
        return
    yield from _of_another(report, parity, recorded)
    foreign = [block for block in parity.blocks if not _holds(recorded, report, block)]
    if foreign:
        where = f"sample {foreign[0].sample}, block {foreign[0].block}"
        message = f"{len(foreign)} of {len(parity.blocks)} blocks state a reference that was not recorded so"
        yield Fault(BLOCKS, f"{message} (first: {where})", str(len(foreign)), "0")
    yield from _astray(report, parity, recorded)


def _never_ran(report: Report, parity: ParityResult) -> Iterator[Fault]:
    """A reference without a recording computed in this run: its runtime is installed, and nothing else was asked."""
    if report.imported is not None:
        return
    packages = (report.provenance.packages or ()) if report.provenance is not None else ()
    runtime = parity.reference_runtime
    if runtime not in {package.name for package in packages}:
        message = f"the reference computed in {runtime}, which is none of the packages of this run"
        yield Fault(BLOCKS, message, runtime, "a package that took part")
    if _asked_for_recording(report):
        yield Fault(
            BLOCKS, "the run was asked for a recorded reference, and the report names no recording", "none", SHIPPED
        )


def _asked_for_recording(report: Report) -> bool:
    """By an override of the preset, by `k3 parity --recorded`, or by a shipped preset that is named so."""
    preset, overrides = report.preset, report.preset.overrides if report.preset is not None else ()
    kinds = [
        value.strip(" '\"") for key, _, value in (one.partition("=") for one in overrides) if key == REFERENCE_KIND
    ]
    if kinds:
        return kinds[-1] == RECORDED
    argv = (report.provenance.argv or ()) if report.provenance is not None else ()
    return f"--{RECORDED}" in argv or (preset is not None and preset.name.endswith(f"-{RECORDED}"))


def _of_another(report: Report, parity: ParityResult, recorded: RecordedDrafts) -> Iterator[Fault]:
    """The recording is of other weights, or was computed otherwise than the report says."""
    models = report.provenance.models if report.provenance is not None else ()
    verifier = next((model.weights for model in models if model.role == "verifier"), None)
    made_with = parity.recording.made_with if parity.recording is not None else None
    for name, stated, held in (
        ("verifier", verifier, recorded.verifier),
        ("drafter", parity.drafter_weights, recorded.drafter),
        ("runtime", parity.reference_runtime, recorded.runtime),
        ("dtype", parity.reference_dtype, recorded.dtype),
        ("made with", made_with, recorded.made_with),
    ):
        if stated != held:
            found, allowed = str(stated)[:40], held[:40]
            yield Fault(BLOCKS, f"{name}: the report says {found}, and the recording {allowed}", found, allowed)


def _astray(report: Report, parity: ParityResult, recorded: RecordedDrafts) -> Iterator[Fault]:
    """A block does not begin where the one before it leads: a run keeps the drafts that agree and one token more."""
    for sample in sorted({block.sample for block in parity.blocks}):
        stream = _stream(recorded, report, sample)
        led = stream.prompt_tokens if stream is not None else None
        for block in parity.blocks:
            if block.sample != sample or stream is None or led is None:
                continue
            if block.context_tokens != led:
                message = f"sample {sample}, block {block.block} has {block.context_tokens} tokens of context"
                yield Fault(BLOCKS, f"{message}, the stream leads to {led}", str(block.context_tokens), str(led))
                break
            led = _next(stream, block)


def _next(stream: RecordedStream, block: ParityBlock) -> int | None:
    """The context after `block`; none if the recording ends inside it."""
    after = block.context_tokens - stream.prompt_tokens + 1
    right = stream.tokens[after : after + len(block.candidate_tokens)]
    pairs = zip(block.candidate_tokens, right, strict=False)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return None if kept == len(right) < len(block.candidate_tokens) else block.context_tokens + 1 + kept


def _stream(recorded: RecordedDrafts, report: Report, sample: int) -> RecordedStream | None:
    """What was recorded after the prompt of this sample."""
    prompts = report.workload.prompts if report.workload is not None else ()
    prompt = next((one for one in prompts if one.prompt_set == "main" and one.sample == sample), None)
    return recorded.stream_of(prompt.digest) if prompt is not None else None


def _holds(recorded: RecordedDrafts, report: Report, block: ParityBlock) -> bool:
    """The recording has this proposal after this prompt and so many tokens, or the block states that it has none."""
    stream = _stream(recorded, report, block.sample)
    if stream is None or not block.reference_tokens:
        return not block.reference_tokens
    place = block.context_tokens - stream.prompt_tokens
    return 0 <= place < len(stream.proposals) and stream.proposals[place] == block.reference_tokens
