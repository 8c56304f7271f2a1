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


def labelled(label, **changes):
    return bool(
        ask("NAME_UNFIT", edit_arm(code(), "fused_ngram", lambda arm: arm.replace(system_under_test=label, **changes)))
    )


@pytest.mark.parametrize("label", ["vLLM 0.11, served", "k3 fused, EAGLE-3 head", "SGLang"])
def test_a_label_does_not_borrow_the_name_of_another_engine(label):
    assert labelled(label)
    assert not labelled(label, role="peer", engine="http")


def test_every_label_of_every_preset_is_fit():
    presets = (load_preset(name).preset for name in preset_names())
    arms = [arm for preset in presets for arm in getattr(preset, "arms", ()) if arm.label and arm.role != "peer"]
    assert arms
    assert [arm.label for arm in arms if labelled(arm.label)] == []
