"""Names of arms: what presets call theirs is plain, and nothing tells a figure, a rank or a rival."""

import pytest

from harness.plans.preset_file import load_preset, preset_names
from tests.gate.asking import ask
from tests.gate.cases.bases import code
from tests.gate.edits import edit_arm


def fires(name):
    return bool(ask("NAME_UNFIT", edit_arm(code(), "fused_ngram", lambda arm: arm.replace(name=name))))


@pytest.mark.parametrize(
    "name", ["5x", "fused-5x", "five_times", "twice_as_fast", "fused_fastest", "eagle3", "med_vllm", "0racle", "dfl4sh"]
)
def test_a_name_that_promises_is_unfit(name):
    assert fires(name)


@pytest.mark.parametrize(
    "name", ["fused_ngram", "exact_12", "block8", "k8-v4", "f_theta_2", "lookup", "dflash4", "rest"]
)
def test_a_name_that_says_what_ran_is_fit(name):
    assert not fires(name)


def test_every_arm_of_every_preset_is_fit():
    names = {arm.name for preset in preset_names() for arm in getattr(load_preset(preset).preset, "arms", ())}
    assert [name for name in sorted(names) if fires(name)] == []
