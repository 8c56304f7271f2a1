"""What ran is derived from counts and times; flags are believed only where nothing disproves them."""

import pytest

from gate.figures.liveness import block_count, did_draft, did_restore, least_restoration_s, ran_natively
from reports.records.measurement import Arm, Measurement, Restoration, Speculation

BOUNDED = Restoration(mode="f_theta", sink=4, window=64)


def row(**changes):
    facts = {"restoration_active": True, "prompt_tokens": 5068, "restoration_s": 0.2, "restored_positions": 100}
    return Measurement(sample=0, repeat=0, **(facts | changes))


def arm(restoration=BOUNDED, **changes):
    return Arm(name="a", role="sut", engine="incremental", restoration=restoration, measurements=(), **changes)


@pytest.mark.parametrize(
    ("changes", "ran"),
    [
        ({}, True),
        ({"restoration_active": False}, False),
        ({"restoration_active": None}, None),
        ({"restored_positions": 0}, False),
        ({"restoration_s": 0.001}, False),
        ({"restoration_s": None}, None),
        ({"restored_positions": None}, True),
        ({"restored_positions": None, "restoration_s": 0.0}, False),
        ({"restored_positions": None, "restoration_s": 0.0, "aux_s": 30.0}, None),
        ({"restored_positions": None, "restoration_s": 0.0, "speculation": Speculation(blocks=3)}, None),
    ],
)
def test_restoration_ran_if_the_numbers_allow_it(changes, ran):
    assert did_restore(arm(), row(**changes)) is ran


@pytest.mark.parametrize("mode", ["none", "ablate"])
def test_an_arm_that_must_not_restore_did_not(mode):
    assert did_restore(arm(Restoration(mode=mode)), row()) is False


def test_one_millisecond_for_five_thousand_positions_is_no_time():
    assert 0.001 < least_restoration_s(arm(), row()) < 0.01


@pytest.mark.parametrize(
    ("said", "ran"),
    [
        (None, None),
        (Speculation(), None),
        (Speculation(blocks=0), False),
        (Speculation(blocks=64, drafted=0), False),
        (Speculation(blocks=64, drafted=3), True),
        (Speculation(blocks=10, accepted=3), True),
        (Speculation(blocks=10, committed=64), True),
        (Speculation(blocks=64, committed=64), None),
        (Speculation(blocks=1, rounds=()), False),
    ],
)
def test_drafting_ran_if_more_came_out_than_one_token_a_block(said, ran):
    assert did_draft(row(speculation=said)) is ran


def test_recorded_rounds_outweigh_a_stated_number():
    assert block_count(row(speculation=Speculation(blocks=64, rounds=()))) == 0
    assert block_count(row(speculation=Speculation(blocks=64))) == 64
    assert block_count(row()) is None


@pytest.mark.parametrize(
    ("one", "native"),
    [
        (row(restoration_active=False), True),
        (row(), False),
        (row(restoration_active=None), False),
        (row(restoration_active=False, speculation=Speculation(blocks=0)), True),
        (row(restoration_active=False, speculation=Speculation(blocks=2, drafted=4)), False),
        (row(restoration_active=False, speculation=Speculation()), False),
    ],
)
def test_an_arm_is_native_only_if_that_is_known_of_every_row(one, native):
    assert ran_natively(arm().replace(measurements=(one,))) is native


def test_an_arm_without_rows_is_nothing():
    assert not ran_natively(arm())
