"""What a preset asks: the prompts of the committed evidence come out again, and every prompt knows its group."""

from functools import cache
from pathlib import Path

import pytest
from mlx_lm.utils import load_tokenizer

from harness.base.errors import ModelError, UsageError
from harness.models.model_text import ModelText
from harness.models.resolve import locate
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset, load_preset_again, preset_names
from harness.plans.workload import ask, workload_of
from reports.known_models import KNOWN_MODELS
from reports.planned.prompts import PlannedPrompts, planned_prompts, shown
from reports.records.constants import SYNTHETIC, template_of
from reports.records.plan import PromptRecord
from reports.report import Report, load_report

EVIDENCE = Path(__file__).resolve().parents[3] / "reports" / "evidence"
COMMITTED = sorted(
    path.stem for path in EVIDENCE.glob("*.json") if path.stem != "demo-smollm2" and not path.stem.startswith("smoke-")
)
"""All but the one of a preset that has changed since, and smokes, which ask no workload."""


@cache
def text_of(model: str) -> ModelText:
    """The tokenizer of a model that K3 names, if it is on this machine."""
    try:
        return ModelText(load_tokenizer(locate(model).folder))
    except ModelError:
        pytest.skip(f"{model} is not on this machine")


def prompts_again(report: Report) -> tuple[PromptRecord, ...]:
    """The prompts that the preset which the report was made by, with its overrides, makes today."""
    assert report.preset is not None
    told = report.preset
    plan = plan_of(load_preset_again(told.name, told.digest, told.overrides))
    made = workload_of(plan, text_of(plan.preset.model)).prompts(text_of(plan.preset.model))
    return tuple(prompt.record() for prompt in made)


@pytest.mark.parametrize("name", COMMITTED)
def test_the_prompts_of_committed_evidence_come_out_again(name: str) -> None:
    report = load_report(EVIDENCE / f"{name}.json")
    assert report.workload is not None
    made = prompts_again(report)
    assert [one.replace(group=None) for one in made] == [one.replace(group=None) for one in report.workload.prompts]
    assert all(one.group for one in made)


def test_what_a_preset_asked_before_it_was_superseded_is_recorded_still() -> None:
    """The demo's report on code was made by `code-tiny` before that named its parity beside it."""
    told = load_report(EVIDENCE / "demo-code-tiny.json").preset
    assert told is not None
    assert told.digest != load_preset(told.name).digest
    assert planned_prompts(told.name, told.digest) == planned_prompts(told.name, load_preset(told.name).digest)


@pytest.mark.parametrize("name", preset_names())
def test_what_a_preset_asks_is_recorded_for_the_gate(name: str) -> None:
    loaded = load_preset(name)
    preset = plan_of(loaded).preset
    recorded = planned_prompts(name, loaded.digest)
    of_templates = getattr(preset.workload, "form", SYNTHETIC) == SYNTHETIC and not getattr(
        preset.workload, "prompts", None
    )
    assert (recorded is not None) == (of_templates and preset.model in KNOWN_MODELS), "python scripts/record_prompts.py"
    if recorded is None:
        return
    text = text_of(preset.model)
    made: dict[str, list[str]] = {}
    for prompt in workload_of(plan_of(loaded), text).prompts(text):
        record = prompt.record()
        made.setdefault(record.prompt_set, []).append(shown(record))
        assert record.group == template_of(workload_of(plan_of(loaded), text).name, record.prompt_set, record.sample)
    assert recorded == PlannedPrompts(model=preset.model, prompts={one: tuple(all_) for one, all_ in made.items()})


@pytest.mark.parametrize(("positions", "fits"), [(4096, True), (None, True), (300, False)])
def test_a_prompt_that_the_model_has_no_room_for_is_refused(positions: int | None, fits: bool) -> None:
    plan = plan_of(load_preset("code-tiny"))
    text = ModelText(load_tokenizer(locate("k3-tiny").folder), positions=positions)
    if fits:
        assert ask(workload_of(plan, text), text, plan.preset)
        return
    with pytest.raises(UsageError, match=r"code-tiny: prompt \d has \d+ tokens and its answer up to 48; k3-tiny was"):
        ask(workload_of(plan, text), text, plan.preset)
