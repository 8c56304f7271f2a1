import pytest

from tests.gate.asking import ask
from tests.gate.cases.bases import niah
from tests.gate.cases.liveness import half_evicted
from tests.gate.edits import edit_arm, edit_rows, foreign, set_rows, set_verifier
from tests.gate.honest import LAYERS, SINK, WINDOW, Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

REPORT = niah()


def evicting(report, name, positions):
    """Every row of an arm with this many positions evicted a layer, of a prompt of 600 and 10 decode tokens."""
    changes = {"prompt_tokens": 600, "decode_tokens": 10, "evicted_positions": LAYERS * positions}
    return set_rows(report, name, **changes)


def bounded(report, name, **changes):
    return edit_arm(report, name, lambda arm: arm.replace(restoration=arm.restoration.replace(**changes)))


def test_a_prompt_that_fits_the_window_needs_no_eviction():
    report = set_rows(NIAH, "ablate", evicted_positions=0)
    assert ask("EVICTION_NEVER_RAN", report)
    assert not ask("EVICTION_NEVER_RAN", set_rows(report, "ablate", prompt_tokens=60))


def test_honest_evictions_are_those_of_the_bounds():
    assert not ask("EVICTION_ARITHMETIC", REPORT)
    assert [finding.arm for finding in ask("EVICTION_ARITHMETIC", half_evicted(REPORT))] == ["identity"]


@pytest.mark.parametrize(("positions", "fires"), [(530, True), (532, False), (542, False), (544, True)])
def test_decode_steps_evict_too_and_nothing_else_does(positions, fires):
    assert SINK + WINDOW == 68
    assert bool(ask("EVICTION_ARITHMETIC", evicting(REPORT, "ablate", positions))) is fires


@pytest.mark.parametrize("changes", [{"window": 16}, {"window": 300}, {"sink": 40}, {"exact_layers": (0, 1, 2, 3)}])
def test_other_bounds_do_not_give_the_count(changes):
    assert ask("EVICTION_ARITHMETIC", bounded(REPORT, "identity", **changes))


def test_sliding_layers_may_evict_or_not():
    types = ("sliding_attention", "full_attention") * (LAYERS // 2)
    report = set_verifier(REPORT, layer_types=types)
    assert not ask("EVICTION_ARITHMETIC", report)

    def full_layers_only(row):
        return row.replace(evicted_positions=row.evicted_positions // 2)

    for name in ("identity", "ablate"):
        report = edit_rows(report, name, full_layers_only)
    assert not ask("EVICTION_ARITHMETIC", report)


def test_what_is_unknown_is_left_to_other_rules():
    for report in (
        foreign(half_evicted(REPORT)),
        set_verifier(half_evicted(REPORT), layer_types=None),
        set_rows(REPORT, "ablate", evicted_positions=None),
        set_rows(REPORT, "ablate", evicted_positions=0),
        bounded(half_evicted(REPORT), "identity", window=None),
    ):
        assert not ask("EVICTION_ARITHMETIC", report)
