"""What a plan asks: the workload of its preset, with prompts in the style that fits the model."""

from pathlib import Path

from harness.base.errors import ModelError, UsageError
from harness.models.model_text import ModelText
from harness.plans.codec_preset import CodecPlan
from harness.plans.parity_plan import ParityPlan
from harness.plans.plan import Plan, RunPlan
from harness.plans.preset import CODE_FORMS, BasePreset, CodePreset, NiahPreset, TimedPreset
from reports.plugins.entry_points import PluginError
from workloads.base import Prompt, PromptStyle, Workload
from workloads.code import Code
from workloads.code_stdlib import StdlibCode
from workloads.codec_prompts import CodecPrompts
from workloads.niah import Niah
from workloads.niah_prose import ProseNiah
from workloads.own_prompts import OwnPrompts
from workloads.plugin_prompts import plugin_prompts


def workload_of(plan: Plan, text: ModelText) -> Workload:
    """The workload of a plan for the model with this tokenizer; needles stay where every arm evicts them."""
    if isinstance(plan, CodecPlan):
        asked = plan.preset.workload
        style = text.style(asked.prompt_style)
        return CodecPrompts(asked.lines, plan.preset.samples, plan.preset.seed, style, asked.second)
    if isinstance(plan, ParityPlan):
        return Code(items=plan.preset.workload.items, samples=plan.preset.samples, seed=plan.preset.seed)
    assert isinstance(plan, RunPlan)
    preset = plan.preset
    if isinstance(preset, CodePreset):
        return _code(preset)
    assert isinstance(preset, NiahPreset)
    return _niah(preset, plan, text.style(preset.workload.prompt_style))


def ask(workload: Workload, text: ModelText, preset: BasePreset) -> tuple[Prompt, ...]:
    """The prompts of the workload for the model with this tokenizer.

    Raises:
        UsageError: they cannot be made as the preset asks. ModelError: the tokenizer does not work.
    """
    try:
        prompts = workload.prompts(text)
    except ModelError:  # a ValueError, too, and not the preset's fault
        raise
    except ValueError as error:
        raise UsageError(f"preset {preset.name}: {error}") from error
    _check_room(prompts, text, preset)
    return prompts


def _check_room(prompts: tuple[Prompt, ...], text: ModelText, preset: BasePreset) -> None:
    """Raises: UsageError: a prompt and its answer are longer than any text the model was made for."""
    answer = preset.max_new_tokens if isinstance(preset, TimedPreset) else 1
    longest = max(prompts, key=lambda prompt: len(prompt.tokens))
    if text.positions is not None and len(longest.tokens) + answer > text.positions:
        raise UsageError(
            f"preset {preset.name}: prompt {longest.sample} has {len(longest.tokens)} tokens and its answer up to "
            f"{answer}; {preset.model} was made for texts of {text.positions}: ask shorter prompts"
        )


def _code(preset: CodePreset) -> Workload:
    asked = preset.workload
    if asked.prompts is not None:
        return own_prompts(preset, asked.prompts)
    if asked.form == "stdlib":
        return StdlibCode(lines=asked.lines, samples=preset.samples, seed=preset.seed, part=asked.part)
    if asked.form not in CODE_FORMS:
        try:
            return plugin_prompts(asked.form, preset.samples, preset.seed)
        except PluginError as error:
            raise UsageError(f"workload.form: {error}") from error
    return Code(items=asked.items, samples=preset.samples, seed=preset.seed)


def own_prompts(preset: CodePreset, file: str) -> OwnPrompts:
    """The prompts of the user's that a preset asks."""
    return OwnPrompts(Path(file).expanduser(), preset.samples, preset.seed)


def _niah(preset: NiahPreset, plan: RunPlan, style: PromptStyle) -> Workload:
    asked = preset.workload
    if asked.form == "prose":
        return ProseNiah(
            words=asked.words,
            samples=preset.samples,
            seed=preset.seed,
            sink=plan.needle_sink,
            window=plan.needle_window,
            style=style,
            needles=asked.needles,
            asked=asked.asked,
            forms=asked.needle_forms,
            part=asked.part,
        )
    return Niah(
        lines=asked.lines,
        samples=preset.samples,
        seed=preset.seed,
        sink=plan.needle_sink,
        window=plan.needle_window,
        style=style,
    )
