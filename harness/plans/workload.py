"""What a plan asks: the workload of its preset, with prompts in the style that fits the model."""

from harness.models.model_text import ModelText
from harness.plans.codec_preset import KvQuantPlan
from harness.plans.parity_plan import ParityPlan
from harness.plans.plan import Plan, RunPlan
from harness.plans.preset import CodePreset, NiahPreset
from workloads.base import Workload
from workloads.code import Code
from workloads.codec_prompts import KvQuant
from workloads.niah import Niah


def workload_of(plan: Plan, text: ModelText) -> Workload:
    """The workload of a plan for the model with this tokenizer; needles stay where every arm evicts them."""
    if isinstance(plan, KvQuantPlan):
        asked = plan.preset.workload
        style = text.style(asked.prompt_style)
        return KvQuant(asked.lines, plan.preset.samples, plan.preset.seed, style)
    if isinstance(plan, ParityPlan):
        return Code(items=plan.preset.workload.items, samples=plan.preset.samples, seed=plan.preset.seed)
    assert isinstance(plan, RunPlan)
    preset = plan.preset
    if isinstance(preset, CodePreset):
        return Code(items=preset.workload.items, samples=preset.samples, seed=preset.seed)
    assert isinstance(preset, NiahPreset)
    return Niah(
        lines=preset.workload.lines,
        samples=preset.samples,
        seed=preset.seed,
        sink=plan.needle_sink,
        window=plan.needle_window,
        style=text.style(preset.workload.prompt_style),
    )
