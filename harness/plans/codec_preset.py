"""What a codec run is told: which codecs, which of them for K and V apart, which bits of mlx-lm's own cache."""

from typing import Literal

from pydantic import Field, field_validator

from harness.base.errors import UsageError
from harness.engines.codec_names import parse_codec
from harness.plans.plan import Plan, PlannedArm
from harness.plans.preset import ArmName, BasePreset, LoadedPreset, NotesSpec
from reports.engines import ORACLE
from reports.records.record import Record
from workloads.codec_prompts import SecondForm

REQUIRED = ("identity", "affine4")
"""Codecs every run has: the control, and the one that verdicts compare with."""


class MixedArm(Record):
    """One codec for K, another for V, in some of the captured layers or all."""

    name: ArmName = Field(description="What the arm is called")
    k: str = Field(max_length=40, description="The codec of K")
    v: str = Field(max_length=40, description="The codec of V")
    layers: tuple[int, ...] | None = Field(None, description="Layers quantised; none: every captured one")

    @field_validator("k", "v")
    @classmethod
    def _known(cls, codec: str) -> str:
        return known_codec(codec)


class CodecNotesSpec(NotesSpec):
    """The haystack, and how it is asked about once more."""

    second: SecondForm = Field("reworded", description="Form of the second question; the model must answer it")


class CodecPreset(BasePreset):
    """A codec run. Captured are the full-attention layers, which are all of them in a pure model."""

    kind: Literal["kv_quant"]
    max_new_tokens: int = Field(16, ge=2, le=256, description="Tokens of an answer, at most")
    timed_tokens: int = Field(33, ge=2, le=1024, description="Tokens of a stream whose decoding is timed")
    codecs: tuple[str, ...] = Field(
        min_length=1, max_length=80, description="affineB or affineB-gGROUP, d4-B, e8-B, and hadamard- before any"
    )
    mixed: tuple[MixedArm, ...] = Field((), max_length=40, description="One codec for K and another for V")
    runtime_bits: tuple[int, ...] = Field((8, 4), description="Of mlx-lm's QuantizedKVCache; empty for none of it")
    runtime_group: Literal[32, 64, 128] = Field(64, description="Of mlx-lm's QuantizedKVCache: values a scale")
    workload: CodecNotesSpec = Field(CodecNotesSpec(lines=20), description="What is asked")

    @field_validator("codecs")
    @classmethod
    def _known(cls, codecs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*REQUIRED, *map(known_codec, codecs)]))


def known_codec(name: str) -> str:
    """The name, if it is one of a codec.

    Raises:
        ValueError: it is none.
    """
    try:
        parse_codec(name)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return name


def runtime_arm(bits: int, group: int) -> str:
    """The name of the arm of mlx-lm's quantised cache."""
    return f"mlx-lm-affine{bits}" + (f"-g{group}" if group != 64 else "")


class CodecPlan(Plan):
    """A checked codec preset."""

    @property
    def preset(self) -> CodecPreset:
        """The preset after overrides."""
        assert isinstance(self.loaded.preset, CodecPreset)
        return self.loaded.preset

    def planned(self) -> tuple[PlannedArm, ...]:
        """The verifier, every codec, and the runtime's own cache; all run on every sample."""
        preset = self.preset
        mixed = [(arm.name, f"K {arm.k}, V {arm.v}, layers {arm.layers or 'all captured'}") for arm in preset.mixed]
        arms = [("oracle", ORACLE.decode_loop, "native cache")]
        arms += [(name, "injected", "K and V of all captured layers") for name in preset.codecs]
        arms += [(name, "injected", settings) for name, settings in mixed]
        arms += [(name, "runtime", "mlx-lm QuantizedKVCache") for name in runtime_arms(preset)]
        return tuple(
            PlannedArm(
                name=name,
                role="oracle" if name == "oracle" else "codec",
                engine=engine,
                prompts=f"{preset.samples} main, second_question and held_out",
                repeats=1,
                runs=preset.samples,
                settings=settings,
            )
            for name, engine, settings in arms
        )


def runtime_arms(preset: CodecPreset) -> dict[str, int]:
    """Names of the arms of mlx-lm's quantised cache, with their bits."""
    return {runtime_arm(bits, preset.runtime_group): bits for bits in preset.runtime_bits}


def plan_codecs(loaded: LoadedPreset) -> CodecPlan:
    """Check a codec preset as a whole.

    Raises:
        UsageError: two arms of one name.
    """
    plan = CodecPlan(loaded)
    names = [arm.name for arm in plan.planned()]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"preset {plan.preset.name}: the name {name!r} is taken; give every arm a name of its own")
    return plan
