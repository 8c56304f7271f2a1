"""What a preset asks: the prompts of the committed evidence come out again, and every prompt knows its group."""

from pathlib import Path

import pytest
from mlx_lm.utils import load_tokenizer

from harness.base.errors import ModelError
from harness.models.model_text import ModelText
from harness.models.resolve import locate
from harness.plans.kinds import plan_of
from harness.plans.preset_file import load_preset_again
from harness.plans.workload import workload_of
from reports.records.plan import PromptRecord
from reports.report import Report, load_report

EVIDENCE = Path(__file__).resolve().parents[3] / "reports" / "evidence"
COMMITTED = sorted(
    path.stem for path in EVIDENCE.glob("*.json") if path.stem != "demo-smollm2" and not path.stem.startswith("smoke-")
)
"""All but the one of a preset that has changed since, and smokes, which ask no workload."""


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
