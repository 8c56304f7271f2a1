"""What a plan comes to, in words: one line an arm, for `--plan`."""

from dataclasses import dataclass

from harness.engines.spec import DrafterSpec, RestorationSpec


@dataclass(frozen=True)
class PlannedArm:
    """One arm as it would be run; `runs` is how often in all. `settings` are its drafter and restoration, if any."""

    name: str
    role: str
    engine: str
    prompts: str
    repeats: int
    runs: int
    settings: str


def settings_text(restoration: RestorationSpec, drafter: DrafterSpec | None) -> str:
    """Drafter and restoration of an arm in one line; empty for an arm without either."""
    parts = [drafter_text(drafter)] if drafter is not None else []
    if restoration.restoration != "none":
        parts.append(restoration_text(restoration))
    return "; ".join(parts)


def drafter_text(drafter: DrafterSpec) -> str:
    """`dflash mac-26b-dflash in float32, blocks of 8, two_phase`."""
    model = f" {drafter.model}" if drafter.model is not None else ""
    dtype = f" in {drafter.dtype}" if drafter.dtype is not None else ""
    bits = f" rounded to {drafter.bits} bits" if drafter.bits is not None else ""
    shuffled = ", through a permuted vocabulary" if drafter.shuffle_seed is not None else ""
    return f"{drafter.kind}{model}{dtype}{bits}, blocks of {drafter.block_size}, {drafter.graph}{shuffled}"


def restoration_text(spec: RestorationSpec) -> str:
    """`f_theta smollm2-135m-ftheta (transient), exact layers none, sink 4, window 64, strict`."""
    exact = spec.exact_layers if isinstance(spec.exact_layers, str) else ",".join(map(str, spec.exact_layers))
    maps = f" {spec.f_theta}" if spec.f_theta is not None else ""
    residency = f" ({spec.residency})" if spec.residency is not None else ""
    bounds = f"exact layers {exact}, sink {spec.sink}, window {spec.window}, {spec.eviction}"
    return f"{spec.restoration}{maps}{residency}, {bounds}"
