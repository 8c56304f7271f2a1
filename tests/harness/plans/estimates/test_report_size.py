"""How large a run may come out, told before it runs: never less than it is, and what to lower where it is too much."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import CannotRunError
from harness.plans.estimates.report_size import LOWERED, fitting, share_of_room
from harness.plans.preset import CodePreset, TimedPreset
from harness.plans.preset_file import load_preset, preset_names
from harness.plans.requirements import check_requirements, requirements_of
from reports.journal import Audited, End, MeasuredRow, encode
from reports.report import report_bytes
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.strict_json import MAX_OBJECTS, MAX_VALUES, values_in
from tests.gate.honest import Setup, measured_code


def planned(*overrides: str, name: str = "code-ngram-smollm2") -> TimedPreset:
    preset = load_preset(name, overrides).preset
    assert isinstance(preset, TimedPreset)
    return preset


def test_every_shipped_preset_has_room() -> None:
    timed = [preset for name in preset_names() if isinstance(preset := load_preset(name).preset, TimedPreset)]
    assert len(timed) > 20
    assert max(map(share_of_room, timed)) < 0.5


def test_what_was_found_too_large_is_refused_before_any_model_is_looked_for() -> None:
    preset = planned("max_new_tokens=4096", "samples=12")
    with pytest.raises(
        CannotRunError, match=r"1\.8 times what the gate reads: lower max_new_tokens to 2\d\d\d or less$"
    ):
        check_requirements(preset.replace(model="k3-tiny"))
    (need,) = [one for one in requirements_of(preset) if one.what == "a report that the gate reads"]
    assert need.problem


@given(st.integers(33, 4096), st.integers(6, 1000), st.integers(1, 50), st.integers(1, 20))
def test_the_setting_that_is_named_is_enough_and_one_more_is_too_much(
    tokens: int, samples: int, repeats: int, processes: int
) -> None:
    preset = planned().replace(max_new_tokens=tokens, samples=samples, repeats=repeats, processes=processes)
    found = fitting(preset)
    if found is None:
        assert all(
            share_of_room(preset.replace(**{name: least})) > 1
            for name, least in LOWERED
            if getattr(preset, name) > least
        )
        return
    name, fits = found
    if share_of_room(preset) <= 1:
        return
    assert fits < getattr(preset, name)
    assert share_of_room(preset.replace(**{name: fits})) <= 1 < share_of_room(preset.replace(**{name: fits + 1}))


@pytest.mark.parametrize("tokens", [34, 200])
def test_a_run_comes_out_no_larger_than_was_told(tokens: int) -> None:
    report = measured_code(Setup(samples=6, repeats=3, max_new_tokens=tokens, draft_arms=("ngram", "dflash")))
    arms: Any = [
        {"name": arm.name, "role": "sut", "engine": "fused", "drafter": {"kind": "ngram", "block_size": 8}}
        for arm in report.arms
        if arm.drafter is not None
    ]
    document = planned().model_dump() | {"samples": 6, "repeats": 3, "processes": 1, "max_new_tokens": tokens}
    preset = CodePreset.model_validate(document | {"arms": tuple(arms)})
    end = End()
    for arm in report.arms:
        for row in arm.measurements:
            _, end = encode(MeasuredRow(arm=arm.name, row=row), end)
        for stream in arm.stream_audit.streams if arm.stream_audit is not None else ():
            _, end = encode(Audited(arm=arm.name, stream=stream), end)
    data = report_bytes(report)
    share = share_of_room(preset)
    assert end.values / MAX_VALUES < share
    assert end.size / MAX_BYTES < share
    assert values_in(data) / MAX_VALUES < share
    assert data.count(b"{") / MAX_OBJECTS < share + 50 / MAX_OBJECTS
