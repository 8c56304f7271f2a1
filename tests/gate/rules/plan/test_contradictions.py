import pytest

from tests.gate.asking import ask
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=2))


@pytest.mark.parametrize(
    ("argv", "part_of", "found"),
    [
        (("k3", "eval", "--preset", "demo", "--samples", "7"), "demo", []),
        (("k3", "eval", "--preset", "parity", "--samples", "7"), "demo", ["parity"]),
        (("k3", "eval", "--preset", "demo"), None, ["demo"]),
        (("k3", "eval", "--preset=niah", "--samples", "7"), None, ["7"]),
        (("k3", "eval", "--preset=niah", "--samples", "7"), "niah", ["niah"]),
        (("k3", "eval", "--samples", "7"), "demo", ["None"]),
        (("k3", "eval", "--preset", "mine.toml", "--samples", "7"), "mine", []),
        (("k3", "eval", "--preset", "/a/mine.toml"), None, []),
        ((), "demo", ["None"]),
        ((), None, []),
    ],
)
def test_the_arguments_are_of_the_run_that_the_report_is_part_of(argv, part_of, found):
    provenance = NIAH.provenance.replace(argv=argv)
    report = NIAH.replace(provenance=provenance, preset=NIAH.preset.replace(name="niah", part_of=part_of))
    assert [finding.found for finding in ask("PLAN_CONTRADICTED", report)] == found


def test_a_preset_beside_another_runs_as_it_ships():
    argv = ("k3", "eval", "--preset", "demo")
    preset = NIAH.preset.replace(name="niah", part_of="demo", overrides=("arms.identity.window=32",))
    report = NIAH.replace(provenance=NIAH.provenance.replace(argv=argv), preset=preset)
    assert [finding.field for finding in ask("PLAN_CONTRADICTED", report)] == ["preset.overrides"]
    assert not ask("PLAN_CONTRADICTED", report.replace(preset=preset.replace(overrides=())))
