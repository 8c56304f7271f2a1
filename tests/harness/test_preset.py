"""Presets: typed, bounded, and refused with one line that names the key and the nearest right one."""

import pytest

from harness.errors import UsageError
from harness.plan import make_plan
from harness.preset_file import load_preset, preset_names


@pytest.mark.parametrize("name", preset_names())
def test_every_shipped_preset_loads_and_plans(name: str) -> None:
    plan = make_plan(load_preset(name))
    assert plan.preset.name == name
    roles = [arm.role for arm in plan.arms]
    assert roles.count("oracle") == roles.count("null") == 1
    assert any(arm.prompt_set == "needle_free" for arm in plan.arms) == (plan.preset.kind == "niah")


def test_overrides_are_applied_and_remembered() -> None:
    loaded = load_preset("demo", ["samples=7", "workload.lines=33", "arms.identity.window=32", "model=/a/b"])
    assert loaded.preset.samples == 7
    assert loaded.preset.workload.lines == 33
    assert loaded.preset.arms[0].window == 32
    assert loaded.preset.model == "/a/b"
    assert loaded.overrides[0] == "samples=7"


def test_an_override_changes_the_plan_but_not_the_file_digest() -> None:
    plain, changed = load_preset("demo"), load_preset("demo", ["seed=7"])
    assert plain.digest == changed.digest
    assert make_plan(plain).digest() != make_plan(changed).digest()


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("sampels=3", "did you mean 'samples'"),
        ("samples=many", "samples"),
        ("samples=0", "samples"),
        ("samples=true", "samples"),
        ("samples=1.5", "samples"),
        ("samples", "key=value"),
        ("kind=code", "no such key"),
        ("workload.lines=1", "workload.lines"),
        ("workload.depth=1", "no such key"),
        ("arms.idntity.window=3", "did you mean 'identity'"),
        ("arms.identity.engine=ar", "no such key"),
        ("arms.identity.window=0", "window"),
        ("arms.identity.exact_layers=[3,1]", "ascending"),
        ("arms.identity.exact_layers=all", "exact_layers"),
        ("arms.identity.exact_layers=[0]\n", ""),
    ],
)
def test_bad_overrides_are_refused_in_one_line(override: str, said: str) -> None:
    if not said:
        make_plan(load_preset("demo", [override]))
        return
    with pytest.raises(UsageError) as caught:
        make_plan(load_preset("demo", [override]))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'demo'"):
        load_preset("dem")


def test_a_preset_name_is_no_path() -> None:
    with pytest.raises(UsageError):
        load_preset("../presets/demo")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["arms.native.restoration=identity"], "restores nothing"),
        (["arms.native.label=fast"], "labelled native_ar_baseline"),
    ],
)
def test_arms_that_contradict_themselves_are_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_plan(load_preset("native-baseline-smollm2", overrides))
