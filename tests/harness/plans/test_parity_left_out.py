"""Which drafters a plan times without their parity, and what the plan says to do."""

import pytest

from harness.plans.companions import plans_beside
from harness.plans.kinds import plan_of
from harness.plans.parity_left_out import ParityLeftOut, parity_left_out
from harness.plans.preset_file import load_preset, preset_names

TOLD = {
    "ftheta-tiny": "`--set 'beside=[\"parity-tiny-recorded\"]'` runs it beside",
    "mac": "`--set 'beside=[\"mac-parity-f32\"]'` runs it beside",
    "cuda": "run `k3 parity --model cuda-verifier --drafter cuda-dflash` into the same folder first",
}
"""Of the presets that ship: one asks for recall first, the others for models that K3 has not."""


def left_out(name: str, *overrides: str) -> tuple[ParityLeftOut, ...]:
    plan = plan_of(load_preset(name, list(overrides)))
    return parity_left_out(plan, (*plans_beside(plan), plan))


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_that_ships_runs_the_parity_of_its_drafter_or_its_plan_says_how(name: str) -> None:
    known = TOLD.get(name) or TOLD.get(name.partition("-")[0])
    assert {one.remedy for one in left_out(name)} <= {known}


def test_a_preset_whose_parity_is_taken_away_names_what_runs_it() -> None:
    (one,) = left_out("code-dflash-smollm2", 'beside=["code-stdlib-smollm2"]')
    assert (one.drafter, one.arms) == ("smollm2-135m-dflash", ("fused_dflash", "fused_combined"))
    assert one.remedy == '`--set \'beside=["code-stdlib-smollm2", "parity-smollm2-recorded"]\'` runs it beside'


def test_on_pytorch_a_recording_of_pytorch_shows_nothing() -> None:
    (one,) = left_out("torch-demo", "beside=[]")
    assert one.remedy == "`--set 'beside=[\"parity-tiny-dflash\"]'` runs it beside"


def test_a_drafter_without_a_reference_needs_none() -> None:
    assert left_out("code-ngram-smollm2") == left_out("peer-speculative-smollm2") == ()
