"""Runs held to the presets that ship, by the records that harness reads them with."""

from importlib import resources
from pathlib import Path

import pytest

from gate.rulebook.shipped_presets import preset_document, shipped_presets
from gate.rules.plan import shipped_preset
from harness.engines.spec import RestorationSpec
from harness.plans.preset import TimedPreset
from harness.plans.preset_file import load_preset, preset_names
from reports.records.record import digest_of
from tests.gate.asking import ask
from tests.gate.cases.bases import of_a_shipped_preset
from tests.gate.edits import edit_arm, set_plan, without_arm

SHIPPED = of_a_shipped_preset()


def places(report):
    return [finding.field for finding in ask("PRESET_DEPARTED", report)]


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_that_ships_is_known_and_read_as_the_runner_reads_it(name):
    data = resources.files("presets").joinpath(f"{name}.toml").read_bytes()
    assert not shipped_presets()[name, digest_of(data)].superseded
    override = ("samples=7", "prefill_chunk=9")
    document, preset = preset_document(data, override), load_preset(name, override).preset
    assert (document["samples"], document["prefill_chunk"]) == (7, 9)
    assert [arm["name"] for arm in document.get("arms", ())] == [arm.name for arm in getattr(preset, "arms", ())]


@pytest.mark.parametrize("text", ["{a" + ".a" * 100_000 + " = 1}", "[" * 100_000, "9" * 100_000, "\ud800"])
def test_an_override_that_no_toml_is_worth_reading_is_a_string(text):
    data = resources.files("presets").joinpath("code-tiny.toml").read_bytes()
    assert preset_document(data, (f"samples={text}",))["samples"] == text


def test_defaults_are_those_of_the_records():
    known = TimedPreset.model_fields | RestorationSpec.model_fields
    assert {name: known[name].default for name in shipped_preset._DEFAULTS} == shipped_preset._DEFAULTS


def test_superseded_presets_are_called_by_name_and_digest():
    for file in Path(str(resources.files("presets"))).joinpath("superseded").glob("*.toml"):
        name, _, digest = file.stem.partition("@")
        assert digest_of(file.read_bytes())[7:15] == digest
        assert any(known == name for known, _ in shipped_presets())


def test_arms_are_those_of_the_preset():
    assert places(SHIPPED) == []
    assert places(without_arm(SHIPPED, "ablate")) == ["arms"]
    assert places(edit_arm(SHIPPED, "ablate", lambda arm: arm.replace(role="sut"))) == ["arms.ablate.role"]
    wider = edit_arm(SHIPPED, "identity", lambda arm: arm.replace(restoration=arm.restoration.replace(window=128)))
    assert places(wider) == ["arms.identity.restoration.window"]


def test_overrides_are_taken_into_account_and_bad_ones_told():
    narrowed = SHIPPED.replace(
        preset=SHIPPED.preset.replace(overrides=(*SHIPPED.preset.overrides, "arms.identity.window=128"))
    )
    assert places(narrowed) == ["arms.identity.restoration.window"]
    for bad in ("window", "arms.nobody.window=3", "samples.of.it=3"):
        report = SHIPPED.replace(preset=SHIPPED.preset.replace(overrides=(*SHIPPED.preset.overrides, bad)))
        assert places(report) == ["preset.overrides"]


def test_a_plan_of_fewer_processes_is_another_one():
    assert places(set_plan(SHIPPED, processes=2)) == ["plan.processes"]
    assert places(set_plan(SHIPPED, samples=4)) == ["plan.samples"]


def test_a_preset_of_ones_own_is_none_of_ours():
    own = SHIPPED.replace(preset=SHIPPED.preset.replace(name="mine", digest="sha256:" + "5" * 64, overrides=()))
    assert not ask("PRESET_UNKNOWN", own)
    assert places(own) == []
