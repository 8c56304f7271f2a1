import pytest

from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_first_row, set_rows
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


def test_an_arm_copied_over_another_is_noticed_in_every_row():
    source = CODE.arms[0].measurements
    report = edit_arm(
        CODE,
        "oracle_again",
        lambda arm: arm.replace(
            measurements=tuple(
                row.replace(prefill_s=other.prefill_s, decode_s=other.decode_s)
                for row, other in zip(arm.measurements, source, strict=True)
            )
        ),
    )
    assert [finding.arm for finding in ask("COPIED_ROWS", report)] == ["oracle_again"] * 4


@pytest.mark.parametrize("field", ["prefill_s", "decode_s"])
def test_one_equal_time_is_a_coincidence(field):
    value = getattr(CODE.arms[0].measurements[0], field)
    assert not ask("COPIED_ROWS", set_first_row(CODE, "oracle_again", **{field: value}))


def test_rows_without_times_are_no_copies():
    assert not ask("COPIED_ROWS", set_rows(CODE, "oracle", prefill_s=None, decode_s=None))
