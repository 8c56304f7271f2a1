"""Suites: those that ship are whole and name presets that are there; what is none is refused in one line."""

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.cli import COMMANDS
from harness.review.step import PresetStep, TestsStep
from harness.review.suite import load_suite, suite_names

WHOLE = ("tiny", "mac", "torch")
ORDER = (
    "doctor", "tests", "smoke", "verify", "parity_f32", "parity_shipped", "incremental", "fused_block4",
    "fused_block8", "natural_stop", "code_trim", "kv_quant", "native_baseline",
)  # fmt: skip


@pytest.mark.parametrize("name", suite_names())
def test_a_suite_that_ships_is_made_of_commands_and_presets_that_are_there(name: str) -> None:
    suite = load_suite(name)
    assert suite.name == name
    for step in suite.sized(1, 1).steps:
        assert step.arguments("r.json")[0] in COMMANDS
        if isinstance(step, PresetStep):
            assert step.plans()[-1].preset.samples == 1
        if isinstance(step, TestsStep):
            assert step.skipped() is None


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_review_has_all_steps_in_their_order(name: str) -> None:
    assert tuple(step.name for step in load_suite(name).steps) == ORDER


def test_the_tiny_suite_asks_nothing_of_a_machine_but_packages() -> None:
    steps = [step for step in load_suite("tiny").steps if step.skipped() is None]
    assert len(steps) >= 10
    for step in steps:
        assert [one.problem for one in step.needs() if one.blocks] == []


GOOD = 'name = "own"\ntitle = "t"\nmemory_gb = 1\ndisk_gb = 1\n[[steps]]\nname = "a"\nkind = '


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "name"),
        ("no toml", "no TOML"),
        (GOOD + '"shell"\ncommand = "touch pwned"\n', "kind"),
        (GOOD + '"doctor"\nargv = ["sh"]\n', "argv"),
        (GOOD + '"tests"\npaths = ["/tmp/evil"]\n', "paths"),
        (GOOD + '"tests"\npaths = ["tests/../../evil"]\n', "paths"),
        (GOOD + '"tests"\nmarkers = "-p evil"\n', "markers"),
        (GOOD + '"smoke"\nmodel = "--address=evil"\n', "model"),
        (GOOD + '"preset"\npreset = "../evil.toml"\n', "preset"),
        (GOOD + '"doctor"\n[[steps]]\nname = "a"\nkind = "doctor"\n', "2 steps are named 'a'"),
        (GOOD + '"doctor"\n[[steps]]\nname = "../a"\nkind = "doctor"\n', "name"),
        ("a = " + "[" * 5000, "no TOML"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_one_line(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(UsageError, match=told) as refused:
        load_suite(str(tmp_path / "own.toml"))
    assert str(refused.value).isprintable()


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean torch"):
        load_suite("troch")


def test_an_unknown_preset_of_a_suite_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(GOOD + '"preset"\npreset = "no-such"\n')
    with pytest.raises(UsageError, match="no preset named"):
        load_suite(str(tmp_path / "own.toml")).sized(None, None)
