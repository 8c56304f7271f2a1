"""The same prefill holds the same bytes."""

from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_first_row, set_rows
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=2, suts=("f_theta", "native")))


def test_repeats_and_the_null_arm_hold_what_the_oracle_holds():
    assert not ask("KV_BYTES_VARY", NIAH)
    assert {f.arm for f in ask("KV_BYTES_VARY", set_first_row(NIAH, "oracle_again", kv_bytes_prefill=1))} == {
        "oracle_again"
    }
    assert ask("KV_BYTES_VARY", set_rows(NIAH, "oracle", kv_bytes_prefill=10**9))


def test_other_caches_hold_other_bytes():
    assert not ask("KV_BYTES_VARY", set_rows(NIAH, "f_theta", kv_bytes_prefill=1))
    report = edit_arm(NIAH, "oracle_again", lambda arm: arm.replace(engine="incremental"))
    assert not ask("KV_BYTES_VARY", set_rows(report, "oracle_again", kv_bytes_prefill=1))


def test_unknown_bytes_are_not_compared():
    assert not ask("KV_BYTES_VARY", set_rows(NIAH, "oracle", kv_bytes_prefill=None))
