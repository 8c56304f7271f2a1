"""What may be said over machines, and what may not."""

import pytest

from gate.figures.pooling.over_machines import RunRatio, Setting, pool_ratios
from gate.figures.pooling.random_effects import Study

SETTING = Setting("code-tiny", ("samples=6",), "sha256:0", "decode_speedup/fused")


def run(report: str, machine: str, log: float, error: float = 0.05, texts: str = "") -> RunRatio:
    return RunRatio(report, SETTING, machine, Study(log, error, 5), frozenset({texts or report}))


def test_runs_pool_on_their_machine_and_machines_over_them() -> None:
    logs = {"a": (0.9, 0.92), "b": (0.88, 0.9), "c": (0.91, 0.93)}
    (found,) = pool_ratios(run(f"{m}{n}", m, log) for m, two in logs.items() for n, log in enumerate(two))
    assert [(one.machine, one.pooled.studies) for one in found.machines] == [("a", 2), ("b", 2), ("c", 2)]
    assert found.withheld is None
    assert found.across is not None
    assert found.across.whole.log == pytest.approx(0.9066667)


def test_a_report_that_is_there_twice_counts_once() -> None:
    (found,) = pool_ratios([run("one", "a", 0.9), run("one", "a", 0.9)])
    assert found.machines[0].pooled.studies == 1
    assert (found.across, found.withheld) == (None, "one machine")


def test_a_run_under_the_name_of_another_machine_counts_once() -> None:
    (found,) = pool_ratios([run("one", "a", 0.9), run("one", "b", 0.9)])
    assert [(one.machine, one.pooled.studies) for one in found.machines] == [("a", 1)]
    assert found.withheld == "one machine"


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        ((0.5, -0.5, 0.6), "faster on one, slower on another"),
        ((0.5, 1.5, 1.0), "machines disagree: Welch's test, p ="),
        ((0.2, 0.22), "contains 1"),
    ],
)
def test_machines_that_disagree_have_no_common_figure(logs: tuple[float, ...], why: str) -> None:
    (found,) = pool_ratios(run(str(place), f"m{place}", log) for place, log in enumerate(logs))
    assert found.across is not None
    assert why in (found.withheld or "")


def test_machines_that_ran_the_same_prompts_are_not_surer_than_one() -> None:
    apart = pool_ratios(run(str(place), f"m{place}", 0.9) for place in range(6))[0].across
    alike = pool_ratios(run(str(place), f"m{place}", 0.9, texts="t") for place in range(6))[0].across
    assert apart is not None
    assert alike is not None
    assert alike.whole.error == pytest.approx(0.05)
    assert apart.whole.error == pytest.approx(0.05 / 6**0.5)
