"""Record what the PyTorch reference of a parity preset proposes, for machines without PyTorch.

python scripts/record_drafts.py parity-tiny-dflash
"""

import sys
from importlib.metadata import version
from pathlib import Path

import reports
from harness.checks.mlx.record_drafts import record
from harness.engines.mlx.drafters.load import load_drafter
from harness.plans.preset import ParityPreset
from harness.plans.preset_file import load_preset
from harness.runs.loaded.loading import load_models
from reports.atomic_file import write_atomically
from reports.drafters import DFLASH_TORCH
from reports.records.recorded_drafts import RecordedDrafts
from workloads.code import Code

COMPUTED = ("torch", "mlx", "mlx-lm")
"""What the proposals depend on: the drafter's runtime, and the verifier's, whose hidden states it reads."""


def main(name: str) -> None:
    """Write reports/recordings/<drafter>.json."""
    preset = load_preset(name).preset
    assert isinstance(preset, ParityPreset), f"{name} is no parity preset"
    assert preset.reference.kind == DFLASH_TORCH.kind, f"the reference of {name} is not PyTorch"
    model, *others = preset.models()
    loaded = load_models(model.name, others)
    verifier, drafter = loaded.models
    assert verifier.weights is not None
    assert drafter.weights is not None
    spec = preset.drafter_as(preset.reference)
    reference = load_drafter(spec, loaded.verifier)
    prompts = Code(items=preset.workload.items, samples=preset.samples, seed=preset.seed).prompts(loaded.text)
    streams = record(
        loaded.verifier,
        reference,
        [prompt.tokens for prompt in prompts],
        spec,
        blocks=preset.blocks,
        prefill_chunk=preset.prefill_chunk,
    )
    made = RecordedDrafts(
        verifier=verifier.weights,
        drafter=drafter.weights,
        runtime=reference.runtime,
        dtype=preset.reference.dtype,
        block_size=preset.block_size,
        made_with=", ".join(f"{package} {version(package)}" for package in COMPUTED),
        seed=preset.seed,
        items=preset.workload.items,
        streams=streams,
    )
    path = Path(reports.__file__).parent / "recordings" / f"{preset.drafter}.json"
    write_atomically(made.model_dump_json().encode() + b"\n", path)
    print(path.name, sum(len(stream.proposals) for stream in streams), "proposals")


if __name__ == "__main__":
    main(sys.argv[1])
