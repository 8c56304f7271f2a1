import pytest

from tests.gate.asking import ask
from tests.gate.edits import set_first_row
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))


def test_one_native_row_among_restored_ones_mixes_the_arm():
    report = set_first_row(NIAH, "identity", restoration_active=False, restored_positions=0)
    assert [finding.found for finding in ask("MIXED_RESTORATION_PATHS", report)] == ["1 restored, 1 native"]


def test_a_row_restored_in_no_time_is_native():
    report = set_first_row(NIAH, "identity", restoration_s=1e-5)
    assert ask("MIXED_RESTORATION_PATHS", report)
    assert [finding.field for finding in ask("RESTORATION_COUNTS", report)] == ["restoration_s"]


@pytest.mark.parametrize(
    ("arm", "changes", "field"),
    [
        ("oracle", {"restored_positions": 5}, "restored_positions"),
        ("oracle", {"evicted_positions": 5}, "evicted_positions"),
        ("ablate", {"restoration_active": True}, "restoration_active"),
        ("identity", {"restored_positions": 0}, "restoration_active"),
        ("identity", {"restoration_active": False}, "restoration_active"),
        ("identity", {"restored_positions": 10**6}, "restored_positions"),
        ("identity", {"evicted_positions": 10**6}, "evicted_positions"),
    ],
)
def test_contradictions_are_named(arm, changes, field):
    found = ask("RESTORATION_COUNTS", set_first_row(NIAH, arm, **changes))
    assert [finding.field for finding in found] == [field]
    assert found[0].found != found[0].allowed
