"""What a request can ask to run: its files on both sides, its command, and which reports may come of it."""

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.bridge.manifest import Overrides
from harness.bridge.task import PresetTask, SuiteTask, task_named
from harness.plans.preset_file import load_preset, preset_names
from harness.review.suite import suite_names
from reports.records.plan import PresetInfo


def test_no_suite_is_called_as_a_preset_is() -> None:
    assert not set(suite_names()) & set(preset_names())


def test_a_suite_is_defined_by_its_own_file_and_by_those_of_its_presets() -> None:
    files = list(task_named("suite", "tiny", Overrides()).files())
    assert files[0] == "harness/review/suites/tiny.toml"
    assert {"presets/ftheta-tiny.toml", "presets/mac-fused-block4.toml"} < set(files)
    assert list(task_named("preset", "demo", Overrides()).files()) == [
        f"presets/{name}.toml" for name in ("demo", "parity-tiny-recorded", "code-tiny")
    ]


def test_the_command_names_nothing_but_the_suite_and_a_folder_of_the_machine() -> None:
    assert SuiteTask("mac").command(Path("/o")) == ["review", "--suite", "mac", "--out", "/o/review"]
    assert PresetTask("demo", ("samples=2",)).command(Path("/o")) == [
        "eval", "--preset", "demo", "--set", "samples=2", "--out", "/o/demo.json",
    ]  # fmt: skip


def test_a_suite_takes_no_overrides() -> None:
    with pytest.raises(UsageError, match="takes none"):
        task_named("suite", "tiny", Overrides(samples=2))


def test_only_reports_of_the_steps_with_their_own_values_may_come_back() -> None:
    suite, digest = SuiteTask("tiny"), load_preset("ftheta-tiny").digest
    made = PresetInfo(name="ftheta-tiny", digest=digest, overrides=("samples=10",))
    assert suite.allows("incremental", made)
    assert not suite.allows("incremental", made.replace(overrides=()))
    assert not suite.allows("incremental", made.replace(digest="sha256:" + "0" * 64))
    assert not suite.allows("incremental", None)
    assert not suite.allows("elsewhere", made)
    assert suite.allows("smoke", None)
