"""Finds the recording that a parity run can be held to: of these weights, this block, type and these prompts."""

from collections.abc import Sequence

from harness.base.errors import CannotRunError
from harness.base.remedies import TORCH_REMEDY
from harness.plans.preset import ParityPreset
from reports.records.drafter_parity import Recording
from reports.records.plan import tokens_digest
from reports.records.provenance import ModelInfo
from reports.records.recorded_drafts import RecordedDrafts, shipped_recordings

LIVE = f"compare with PyTorch itself, by `k3 parity` without --recorded, which needs {TORCH_REMEDY}"


def find_recording(
    preset: ParityPreset, models: Sequence[ModelInfo], prompts: Sequence[Sequence[int]]
) -> tuple[Recording, RecordedDrafts]:
    """The shipped recording of the preset's reference, and the name a report gives it.

    `models` are the verifier and the drafter, `prompts` the token ids to be compared after.

    Raises:
        CannotRunError: there is none; the message names what differs in the nearest one.
    """
    verifier, drafter = models
    of_drafter = {digest: one for digest, one in shipped_recordings().items() if one.drafter == drafter.weights}
    if not of_drafter:
        raise CannotRunError(f"no reference was recorded for the weights of {preset.drafter}: {LIVE}")
    lacks = {digest: _difference(one, preset, verifier, prompts) for digest, one in of_drafter.items()}
    fitting = next((digest for digest, difference in lacks.items() if difference is None), None)
    if fitting is None:
        raise CannotRunError(f"the reference of {preset.drafter} was recorded {next(iter(lacks.values()))}: {LIVE}")
    found = of_drafter[fitting]
    return Recording(digest=fitting, made_with=found.made_with), found


def _difference(
    recorded: RecordedDrafts, preset: ParityPreset, verifier: ModelInfo, prompts: Sequence[Sequence[int]]
) -> str | None:
    """How the recording was made where that is not what is asked now."""
    if recorded.verifier != verifier.weights:
        return f"with other weights of the verifier than those of {preset.model}"
    if recorded.dtype != preset.reference.dtype:
        return f"in {recorded.dtype}, not in {preset.reference.dtype}"
    if recorded.block_size != preset.block_size:
        return f"in blocks of {recorded.block_size}, not of {preset.block_size}"
    unknown = [number for number, tokens in enumerate(prompts) if recorded.stream_of(tokens_digest(tokens)) is None]
    if unknown:
        known = f"{len(recorded.streams)} prompts (seed {recorded.seed}, workload.items {recorded.items})"
        return f"after {known}, of which sample {unknown[0]} is none"
    return None
